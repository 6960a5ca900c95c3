export { type Config, type ConfigResult, type Configured, readConfig } from './config.ts';
export { type App, type AppConfig, createApp } from './server/http.ts';
export { createLog, type Log } from './server/log.ts';
