import type { Goal } from './goal/goal-file.ts';
import type { Progress } from './grade.ts';
import type { GradingService } from './grading-service.ts';
import type { Selection } from './run/selected-faults.ts';

export interface GradeOptions extends Selection {
  /** The program and its arguments. */
  command: readonly string[];
  store: GradingService;
  /** The goal of an agent. It judges each run, instead of a comparison with the runs without faults. */
  goal?: Goal | undefined;
  /** With a goal: how often the program runs without faults, and under each fault at each place. Default: once. */
  trials?: number | undefined;
  /** Whether to ignore what the program prints. */
  ignoresOutput?: boolean | undefined;
  /** The time limit of a run, without the waits that faults cause. Default: 60 s. */
  timeoutMs?: number | undefined;
  /** The largest number of concurrent runs. Default: two for each processor, since runs mostly wait. */
  atOnce?: number | undefined;
  /** The environment of the program, to which the address and the key are added. */
  env?: NodeJS.ProcessEnv;
  /** Stops the grading: ends the program, deletes its workspaces, and throws the reason. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Gets the output of the program, with the name of the run if it is under a fault. */
  onOutput?: (text: string, fault?: string) => void;
}
