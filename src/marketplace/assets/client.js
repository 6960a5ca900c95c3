// Live parts, sorting, copying, and the stake. All other features of the page work without this script.

/** A part that shows a running job is fetched again when the server reports a change. */
const live = new Set(document.querySelectorAll('[data-live]'));
if (live.size > 0) {
  const events = new EventSource('/events');
  const due = new Set();
  const refresh = async () => {
    const parts = [...due];
    due.clear();
    for (const part of parts) {
      const answer = await fetch(part.dataset.live, { headers: { accept: 'text/html' } });
      if (!answer.ok) continue;
      part.innerHTML = await answer.text();
      if (part.querySelector('[data-done]')) live.delete(part);
    }
    if (live.size === 0) events.close();
  };
  /** Several changes at a time cause one fetch. */
  const mark = (isConcerned) => {
    const isWaiting = due.size > 0;
    for (const part of live) if (isConcerned(part)) due.add(part);
    if (!isWaiting && due.size > 0) setTimeout(refresh, 150);
  };
  events.addEventListener('change', ({ data }) => mark((part) => part.dataset.topic === data));
  // Fetches what changed before this connection was open.
  events.addEventListener('open', () => mark(() => true));
}

document.addEventListener('click', async ({ target }) => {
  const copy = target.closest?.('[data-copy]');
  if (copy) {
    const text = document.getElementById(copy.dataset.copy)?.textContent ?? '';
    const before = copy.textContent;
    await navigator.clipboard.writeText(text).then(
      () => {
        copy.textContent = 'Copied';
      },
      () => {
        copy.textContent = 'Not copied';
      },
    );
    setTimeout(() => {
      copy.textContent = before;
    }, 1500);
    return;
  }
  const sorter = target.closest?.('th button');
  if (sorter) sort(sorter.closest('th'));
});

/** Sorts the rows of a table by one column: by number if all cells are numbers, else by text. */
function sort(head) {
  const table = head.closest('table');
  const index = [...head.parentElement.children].indexOf(head);
  const descending = head.getAttribute('aria-sort') === 'ascending';
  for (const other of head.parentElement.children) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, text: row.cells[index]?.textContent.trim() ?? '' }));
  const numeric = rows.every(({ text }) => text === '' || !Number.isNaN(Number.parseFloat(text)));
  rows.sort((a, b) =>
    numeric
      ? (Number.parseFloat(a.text) || 0) - (Number.parseFloat(b.text) || 0)
      : a.text.localeCompare(b.text, 'en', { numeric: true }),
  );
  if (descending) rows.reverse();
  body.append(...rows.map(({ row }) => row));
}

const price = document.querySelector('[data-stake-minimum]');
price?.addEventListener('input', () => {
  const { stakeMinimum, stakeUnit } = price.dataset;
  const dollars = Number(price.value);
  const stake = Math.max(Number(stakeMinimum), Number.isFinite(dollars) ? Number(stakeUnit) * dollars : 0);
  document.getElementById('stake').textContent = String(Math.round(stake * 100) / 100);
});

for (const choice of document.querySelectorAll('select[data-go]')) {
  choice.addEventListener('change', () => choice.form.submit());
}
