import { type TObject, type TProperties, Type } from 'typebox';
import { patchOf } from '../../foundation/schema.ts';

/** A type of event: what happened, and the data that its events carry. */
export interface EventDefinition<Name extends string = string, Data extends TObject = TObject> {
  /** Such as `pet.created`. */
  type: Name;
  /** The resource after the change or, if it was removed, before it. */
  data: Data;
  meaning: string;
  /** What happened to the resource. Only for resources of which every change is recorded. */
  change?: 'created' | 'updated' | 'deleted';
  /** The fields that an update changed, with their values before it. */
  previous?: TObject;
}

/** Declares a type of event. With `previousExample` its events also say what the resource was before. */
export function event<const Name extends string, Data extends TObject>({
  previousExample,
  ...definition
}: Omit<EventDefinition<Name, Data>, 'previous'> & { previousExample?: object }): EventDefinition<
  Name,
  Data
> {
  if (!previousExample) return definition;
  return { ...definition, previous: previousOf(definition.data, previousExample) };
}

/** The fields of a resource before an update. The first property of a resource is its id, which never changes. */
function previousOf(data: TObject, example: object): TObject {
  const { title, properties } = data as TObject & { title?: string };
  const [, ...fields] = Object.entries<TProperties[string]>(properties);
  const optional = fields.map(([name, schema]) => [name, Type.Optional(schema)]);
  return Type.Object(patchOf(Object.fromEntries(optional)), {
    title: `Previous${title}`,
    description: `The fields of the ${title} that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state.`,
    examples: [example],
  });
}
