const running = new Set<number>();

/** Remembers a child process that leads a process group of its own. */
export function childStarted(pid: number): void {
  running.add(pid);
}

export function childEnded(pid: number): void {
  running.delete(pid);
}

/** Ends every child that still runs, with all that it started. */
export function endChildren(): void {
  for (const pid of running) {
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGTERM');
    } catch {
      // It has ended meanwhile.
    }
  }
  running.clear();
}
