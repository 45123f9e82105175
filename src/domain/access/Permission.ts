/** A permission: `module:action` or `module:action:scope`; `*:*` and `module:*` are wildcards (spec §5). */
export type Permission = string

const form = /^(\*:\*|[\w-]+(:\*|(:[\w-]+){0,2}))$/

/** Whether a permission is well formed. `*:read` is not: a wildcard cannot precede a name (contract, platform §5). */
export const isPermission = (text: string): text is Permission => form.test(text)

/** Scopes that extend their action instead of narrowing it; the action alone does not grant them. */
const widening = new Set<Permission>(["catalog:read:unpublished", "orders:create:on-behalf"])

/**
 * The only permission check (contract §0.3). Granted by `*:*`, by `module:*`, by the exact string, and by the unscoped
 * form of a scoped requirement: `orders:read` covers `orders:read:own`, never the reverse, and never a scope that
 * widens.
 */
export const grants = (held: ReadonlyArray<Permission>, required: Permission): boolean => {
  const [module, action] = required.split(":")
  const unscoped = widening.has(required) ? required : `${module}:${action}`
  return held.some((one) => one === "*:*" || one === required || one === `${module}:*` || one === unscoped)
}

/** True when any of the alternatives is granted; routes list aliases this way. */
export const grantsAny = (held: ReadonlyArray<Permission>, anyOf: ReadonlyArray<Permission>): boolean =>
  anyOf.some((required) => grants(held, required))
