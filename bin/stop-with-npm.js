// npm runs scripts in a shell that passes no signals on. So this process gets SIGTERM when npm, or a shell that npm runs it in, has ended.
import { readFileSync } from 'node:fs';

const checkEveryMs = 250;

// The process that an older Node.js starts has a channel to it instead.
if (process.env.npm_lifecycle_event && process.connected === undefined) {
  const started = ancestors(process.ppid);
  setInterval(() => {
    if (ancestors(process.ppid) !== started) process.kill(process.pid, 'SIGTERM');
  }, checkEveryMs).unref();
}

/** A process and, on Linux, its ancestors up to npm: npm sets the variable for its script, not for itself. */
function ancestors(pid) {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    const isOfScript = `\0${environment}`.includes('\0npm_lifecycle_event=');
    return isOfScript && parent ? `${pid} ${ancestors(Number(parent[1]))}` : String(pid);
  } catch {
    return String(pid);
  }
}
