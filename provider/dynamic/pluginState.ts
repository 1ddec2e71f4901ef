import type * as pulumi from "@pulumi/pulumi";
import { type FieldTable, listFields } from "../../sdk/records/fields";
import type { Properties } from "../engine/properties";

/*
 * State may have been written by the other form of this provider. The dynamic form stores lists as
 * comma-separated strings, and stores the code that the engine runs under `__provider`. The plugin
 * stores real lists.
 */

/**
 * Returns handlers that accept state written by the plugin. An update then writes it in the dynamic
 * provider's form.
 */
export function acceptPluginState(
  handlers: Required<pulumi.dynamic.ResourceProvider>,
  table: FieldTable,
): pulumi.dynamic.ResourceProvider {
  const lists = listFields(table);
  const own = (properties: Properties) => withCommaLists(lists, properties);
  return {
    configure: handlers.configure,
    // A program's inputs may contain lists anyway.
    check: (olds, news) => handlers.check(own(olds), news),
    async diff(id, olds, news) {
      const result = await handlers.diff(id, own(olds), own(news));
      const isOtherForm = olds.__provider !== news.__provider;
      return result.changes === false && isOtherForm ? { ...result, changes: true } : result;
    },
    create: (inputs) => handlers.create(own(inputs)),
    read: (id, olds) => handlers.read(id, own(olds)),
    update: (id, olds, news) => handlers.update(id, own(olds), own(news)),
    delete: (id, olds) => handlers.delete(id, own(olds)),
  };
}

function withCommaLists(lists: readonly string[], properties: Properties): Properties {
  const converted = lists.flatMap((field) => {
    const value = properties[field];
    return Array.isArray(value) ? [[field, value.join(",")] as const] : [];
  });
  return converted.length === 0 ? properties : { ...properties, ...Object.fromEntries(converted) };
}
