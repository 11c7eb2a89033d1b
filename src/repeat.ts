/**
 * Calls `work` again and again, each time `ms` after the call before is over, until the returned function is called. What
 * fails is tried again in the next call, and `failed` is told.
 */
export function repeat(ms: number, work: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const wait = () => {
    if (!isOver) timer = setTimeout(() => work().catch(failed).then(wait), ms).unref();
  };
  wait();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
