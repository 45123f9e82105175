import { Option, Schema } from "effect"
import { grants, type Permission } from "./Permission.ts"

/** As the table has it: JSON of module to actions. */
const Stored = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.String)))

const decode = Schema.decodeOption(Stored)

/** The permissions of a key's stored JSON, `module:action` each; none where the JSON is not what it should be. */
export const permissionsOf = (stored: string): ReadonlyArray<Permission> =>
  Object.entries(Option.getOrElse(decode(stored), () => ({}))).flatMap(([module, actions]) =>
    actions.map((action) => `${module}:${action}`)
  )

/** What is left of a role's permissions when a key names fewer: never more than the role has. */
export const narrowed = (
  role: ReadonlyArray<Permission>,
  own: ReadonlyArray<Permission> | null
): ReadonlyArray<Permission> => own === null ? role : own.filter((permission) => grants(role, permission))
