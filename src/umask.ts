/** What modes the user lets new files have, once ours are private. */
let ofUser: number | undefined;

/** What this process writes from now on is for its user alone. */
export function keepFilesPrivate(): void {
  ofUser ??= process.umask(0o077);
}

/** Does what makes files that are not ours but the user's: they get the modes that the user lets them have. */
export function withUsersUmask<T>(work: () => T): T {
  if (ofUser === undefined) return work();
  const ours = process.umask(ofUser);
  try {
    return work();
  } finally {
    process.umask(ours);
  }
}
