export {
  type Access,
  type PetstoreServer,
  type StartOptions,
  startPetstore,
  type WorkspaceOptions,
} from './start-petstore.ts';
