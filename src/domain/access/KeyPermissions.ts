import { Option, Schema } from "effect"
import { grants, type Permission } from "./Permission.ts"

/** The column format: JSON of module to actions. */
const Stored = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.String)))

const decode = Schema.decodeOption(Stored)

/** The permissions of a map of module to actions, `module:action` each. */
export const permissionsOfMap = (map: Readonly<Record<string, ReadonlyArray<string>>>): ReadonlyArray<Permission> =>
  Object.entries(map).flatMap(([module, actions]) => actions.map((action) => `${module}:${action}`))

/** The reverse, as JSON for the column. */
export const storedPermissions = (permissions: ReadonlyArray<Permission>): string => {
  const map: Record<string, Array<string>> = {}
  for (const permission of permissions) {
    const end = permission.indexOf(":")
    const actions = map[permission.slice(0, end)] ??= []
    actions.push(permission.slice(end + 1))
  }
  return JSON.stringify(map)
}

/** The permissions of a key's stored JSON, `module:action` each; none for malformed JSON. */
export const permissionsOf = (stored: string): ReadonlyArray<Permission> =>
  permissionsOfMap(Option.getOrElse(decode(stored), () => ({})))

/**
 * The intersection of two lists: of each, the entries that the other covers. A narrowed key never gets more than its
 * role.
 */
export const narrowed = (
  role: ReadonlyArray<Permission>,
  own: ReadonlyArray<Permission> | null
): ReadonlyArray<Permission> =>
  own === null
    ? role
    : [
      ...new Set([
        ...own.filter((permission) => grants(role, permission)),
        ...role.filter((permission) => grants(own, permission))
      ])
    ]
