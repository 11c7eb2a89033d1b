/** The umask of the user, once ours is private. */
let userUmask: number | undefined;

/** Makes files that this process writes from now on readable by their owner alone. */
export function setPrivateUmask(): void {
  userUmask ??= process.umask(0o077);
}

/** Runs `work` with the umask of the user. Files of the user, such as reports, are written so. */
export function withUserUmask<T>(work: () => T): T {
  if (userUmask === undefined) return work();
  const ours = process.umask(userUmask);
  try {
    return work();
  } finally {
    process.umask(ours);
  }
}
