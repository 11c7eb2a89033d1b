import { Type } from 'typebox';
import { event } from '../history/event.ts';

const Nothing = Type.Object({}, { description: 'An empty object.' });

export const workspaceReset = event({
  type: 'workspace.reset',
  data: Nothing,
  meaning:
    'All or part of the data was removed, or the service was restored from a backup. Read the lists again. The history continues.',
});

export const workspaceSeeded = event({
  type: 'workspace.seeded',
  data: Nothing,
  meaning: 'Many resources were added at once, without an event for each. Read the lists again.',
});

export const workspaceEvents = [workspaceReset, workspaceSeeded] as const;
