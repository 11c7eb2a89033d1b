// Runs first. By default Node.js opens its debugger on SIGUSR1, for every user of this machine.
process.on('SIGUSR1', () => {});
