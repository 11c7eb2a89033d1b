import { type Static, Type } from 'typebox';
import { DateTime, Name, Shown, Text } from '../foundation/schema.ts';
import { openPlanNames, planNames } from '../foundation/settings/plans.ts';
import { Account } from '../lab/account/schema.ts';

export const maxNameLength = 40;
/** Longer than a code, so that a mistyped one is an invalid invite, not a malformed request. */
const maxCodeLength = 100;

const exampleKey = `pet_${'0'.repeat(36)}`;

export const NewAccount = Type.Object(
  {
    invite: Type.Optional(
      Text(maxCodeLength, 'The code of an invite. Leave it out for open sign-up.', `inv_${'0'.repeat(16)}`),
    ),
    name: Name(maxNameLength, 'Your name, as others see it. Two people may have the same.', 'Ada'),
  },
  { title: 'NewAccount', description: 'Who wants a workspace and a key.' },
);

export const CreatedAccount = Type.Object(
  {
    workspace: Shown('The name of the workspace. It has the demo data.', 'ada-3f8k2q9x'),
    keyId: Shown('The id of the key.', 'key_318204975513'),
    key: Shown('The API key. It cannot be shown again: the service stores only its hash.', exampleKey),
    plan: Type.Enum(openPlanNames, {
      type: 'string',
      description: 'The plan of the key.',
      examples: ['free'],
    }),
    labUrl: Type.Optional(
      Shown(
        'The page of the lab with this key. Absent if the service has no lab.',
        `http://localhost:8080/lab#key=${exampleKey}`,
      ),
    ),
  },
  { title: 'CreatedAccount', description: 'A new workspace with its key.' },
);
export type CreatedAccount = Static<typeof CreatedAccount>;

const [accountExample] = (Account as { examples?: object[] }).examples ?? [];

export const OwnAccount = Type.Object(
  {
    ...Account.properties,
    name: Type.Optional(Shown('The name of its member. Absent if an operator created the key.', 'Ada')),
    upgrades: Type.Array(Type.Enum(openPlanNames, { type: 'string', examples: ['pro'] }), {
      description: 'The plans to which the key can change itself, its own included. Empty: to none.',
      examples: [['free', 'pro']],
    }),
    oldKeyUntil: Type.Optional(
      DateTime('Until when an old secret of the key works, if there is one.', '2026-11-21T10:30:12.345Z'),
    ),
    canChangeKey: Type.Boolean({
      description: 'Whether the key can change its secret. The key of the demo cannot.',
      examples: [true],
    }),
    canDelete: Type.Boolean({
      description: 'Whether the key can delete its workspace.',
      examples: [true],
    }),
  },
  {
    title: 'OwnAccount',
    description: 'The state of a key, and what it can change.',
    examples: [
      { ...accountExample, name: 'Ada', upgrades: ['free', 'pro'], canChangeKey: true, canDelete: true },
    ],
  },
);
export type OwnAccount = Static<typeof OwnAccount>;

export const PlanChange = Type.Object(
  {
    plan: Type.Enum(planNames, { type: 'string', description: 'The new plan.', examples: ['pro'] }),
  },
  { title: 'PlanChange', description: 'The plan to change to.' },
);

export const KeyChange = Type.Object(
  {
    revokeOldNow: Type.Optional(
      Type.Boolean({
        description:
          'Ends the old secret now, and creates none. Send it with the new secret, once all programs use that.',
        examples: [false],
      }),
    ),
  },
  { title: 'KeyChange', description: 'Whether to create a new secret, or to end the old one.' },
);

export const ChangedKey = Type.Object(
  {
    keyId: Shown('The id of the key, which stays.', 'key_318204975513'),
    key: Type.Optional(
      Shown('The new secret, the API key to send from now on. Absent with `revokeOldNow`.', exampleKey),
    ),
    oldKeyUntil: Type.Optional(
      DateTime('Until when the old secret works. Absent if it has ended.', '2026-11-21T10:30:12.345Z'),
    ),
  },
  { title: 'ChangedKey', description: 'The key after the change of its secret.' },
);
export type ChangedKey = Static<typeof ChangedKey>;
