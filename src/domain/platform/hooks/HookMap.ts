/** Before-hooks and the data that they may replace (contract §0.5, platform §13); each module declares its keys. */
export interface BeforeHooks {}

/** After-hooks with `result` and `data`, the input (`never`: null); each module declares its keys. */
export interface AfterHooks {}

export type BeforeOf<Key extends string> = Key extends keyof BeforeHooks ? BeforeHooks[Key] : object

export type AfterOf<Key extends string> = Key extends keyof AfterHooks ? AfterHooks[Key]["result"] : object

export type OldOf<Key extends string> = Key extends keyof AfterHooks ? AfterHooks[Key]["data"] : object

const operations: ReadonlyMap<string, string> = new Map([
  ["UpdateQuantity", "update"],
  ["Adjust", "update"],
  ["Payment", "create"],
  ["Get", "read"]
])

export const operationOf = (key: string): string => {
  const verb = key.slice(key.lastIndexOf(".") + 1).replace(/^(before|after)/, "")
  return operations.get(verb) ?? verb.charAt(0).toLowerCase() + verb.slice(1)
}
