// What every start does first.

// What this process writes is for its user alone.
process.umask(0o077);
// Node.js would open its debugger, to everybody on this machine.
process.on('SIGUSR1', () => {});
