import { makeReadings } from '../readings/read-recording.ts';
import { petstoreApi } from './petstore-api.ts';

makeReadings(petstoreApi);
