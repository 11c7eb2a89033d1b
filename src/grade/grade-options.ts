import type { Goal } from './goal/goal-file.ts';
import type { Progress } from './grade.ts';
import type { GradingStore } from './grading-store.ts';
import type { Selection } from './run/asked-faults.ts';

export interface GradeOptions extends Selection {
  /** The program and its arguments. */
  command: readonly string[];
  store: GradingStore;
  /** What an agent shall bring about. It judges each run, in place of a comparison with the runs without faults. */
  goal?: Goal | undefined;
  /** With a goal: how often the program runs without faults, and under each fault at each place. Default: once. */
  trials?: number | undefined;
  /** Whether nothing that the program prints is compared. */
  ignoresOutput?: boolean | undefined;
  /** How long a run may take, without the waits that faults cause. Default: 60 s. */
  timeoutMs?: number | undefined;
  /** The largest number of concurrent runs. Default: two for each processor, since runs mostly wait. */
  atOnce?: number | undefined;
  /** The environment of the program, to which the address and the key are added. */
  env?: NodeJS.ProcessEnv;
  /** Stops the grading: the program is ended, its workspaces are deleted, and the reason is thrown. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Gets the output of the program, with the name of the run if it is under a fault. */
  onOutput?: (text: string, fault?: string) => void;
}
