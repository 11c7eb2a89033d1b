/** The umask of the user, saved when this process makes its own umask private. */
let userUmask: number | undefined;

/** Makes new files of this process readable only by their owner. */
export function setPrivateUmask(): void {
  userUmask ??= process.umask(0o077);
}

/** Runs `work` with the umask of the user: for files of the user, such as reports. */
export function withUserUmask<T>(work: () => T): T {
  if (userUmask === undefined) return work();
  const ours = process.umask(userUmask);
  try {
    return work();
  } finally {
    process.umask(ours);
  }
}
