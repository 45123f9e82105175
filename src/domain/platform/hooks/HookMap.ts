/**
 * Keys of the before-hooks and the data that they get and may replace (contract §0.5, platform §13). Each module declares
 * its keys beside the records that they are about.
 */
export interface BeforeHooks {}

/**
 * Keys of the after-hooks with the result of the operation (`result`) and its input (`data`, which is null where the map has
 * `never`). Each module declares its keys.
 */
export interface AfterHooks {}

/** The data of the before-hooks of a key; any object for the keys of plugins. */
export type BeforeOf<Key extends string> = Key extends keyof BeforeHooks ? BeforeHooks[Key] : object

/** The result that the after-hooks of a key get; any object for the keys of plugins. */
export type AfterOf<Key extends string> = Key extends keyof AfterHooks ? AfterHooks[Key]["result"] : object

/** The data that the after-hooks of a key get. */
export type OldOf<Key extends string> = Key extends keyof AfterHooks ? AfterHooks[Key]["data"] : object

/** Verbs of keys whose operation has another name. */
const operations: ReadonlyMap<string, string> = new Map([
  ["UpdateQuantity", "update"],
  ["Adjust", "update"],
  ["Payment", "create"],
  ["Get", "read"]
])

/** Kind of operation of a key, from its verb; docs/plugins.md lists the keys of the core. */
export const operationOf = (key: string): string => {
  const verb = key.slice(key.lastIndexOf(".") + 1).replace(/^(before|after)/, "")
  return operations.get(verb) ?? verb.charAt(0).toLowerCase() + verb.slice(1)
}
