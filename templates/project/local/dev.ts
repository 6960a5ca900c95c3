import { projectDirectory } from '../src/server/project.ts';
import { develop } from './develop.ts';
import { localIssuer } from './key.ts';
import { localPlatform, localUrl } from './machine.ts';

await develop(projectDirectory, {
  ...process.env,
  AUTH: '',
  PLATFORM_PUBLIC_KEY: localPlatform.publicKey,
  PLATFORM_ISSUER: localIssuer,
  PLATFORM_AUDIENCE: localUrl,
  SHUTDOWN_GRACE_MS: '1000',
});
