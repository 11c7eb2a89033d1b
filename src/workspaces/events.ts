import { Type } from '../foundation/type.ts';
import { event } from '../history/event.ts';

const Nothing = Type.Object({}, { description: 'Holds nothing.' });

export const workspaceReset = event({
  type: 'workspace.reset',
  data: Nothing,
  meaning:
    'The workspace was emptied, or a part of it, or the service was restored from a backup. Read the lists again. The history goes on.',
});

export const workspaceSeeded = event({
  type: 'workspace.seeded',
  data: Nothing,
  meaning: 'Many rows were added at once, without an event for each. Read the lists again.',
});

export const workspaceEvents = [workspaceReset, workspaceSeeded] as const;
