/**
 * Modules of `src/domain` from the lowest level to the highest; those of one line do not know each other. A module imports
 * modules of lower levels only, so that none of them reaches itself in a circle. `platform/` holds what knows no commerce.
 */
const levels: ReadonlyArray<string> = [
  "platform/hints",
  "platform/ids platform/errors platform/ratelimits platform/database",
  "platform/text platform/records",
  "platform/money platform/access platform/addresses",
  "platform/settings platform/paging platform/idempotency",
  "platform/events",
  "platform/batching platform/resources platform/jobs platform/tenancy platform/credentials",
  "platform/modules",
  "platform/tasks platform/hooks",
  "customers media shipping staff webhooks audit auth",
  "analytics catalog",
  "pricing inventory",
  "carts search",
  "orders",
  "promotions fulfillment tax invoices privacy returns",
  "checkout payments mail",
  "import-export"
]

const modules = new Map(levels.flatMap((names, level) => names.split(" ").map((name) => [name, level] as const)))

/** The level of a module; undefined for one that has none yet. */
export const levelOf = (name: string): number | undefined => modules.get(name)

/** The module of the domain that a file belongs to: `carts`, or `platform/ids`. */
export const domainModule = (path: string): string | undefined =>
  /^src\/domain\/((?:platform\/)?[^/]+)\//.exec(path)?.[1]

/** Why a file of the domain may not import another one, or undefined when it may. */
export const refusedModule = (from: string, to: string): string | undefined => {
  const [own, other] = [domainModule(from) ?? "", domainModule(to) ?? ""]
  const [level, target] = [levelOf(own), levelOf(other)]
  return own === other || level === undefined || target === undefined || target < level
    ? undefined
    : `"${own}" may not import "${other}": it is not of a lower level (scripts/lint/ModuleLevels.ts)`
}
