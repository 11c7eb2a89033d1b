// What every start does first.

// Node.js would open its debugger, to everybody on this machine.
process.on('SIGUSR1', () => {});
