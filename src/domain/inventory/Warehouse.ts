import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { StorableObject, Text } from "../text/Storable.ts"

const Priority = Schema.Int.check(Schema.isBetween({ minimum: -2_147_483_648, maximum: 2_147_483_647 }))

/** A stock location (contract 6). Allocation uses active warehouses only, lowest `priority` first. */
export const Warehouse = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  name: Schema.String,
  code: Schema.String,
  address: Schema.NullOr(StorableObject),
  isActive: Schema.Boolean,
  priority: Schema.Int,
  metadata: StorableObject
}).annotate({ identifier: "Warehouse" })
/** See the schema of the same name. */
export type Warehouse = typeof Warehouse.Type

/** Body of a new warehouse; `code` is unique in the organization. */
export const NewWarehouse = Schema.Struct({
  name: Text,
  code: Text,
  address: Schema.optional(Schema.NullOr(StorableObject)),
  isActive: Schema.optional(Schema.Boolean),
  priority: Schema.optional(Priority),
  metadata: Schema.optional(StorableObject)
}).annotate({ identifier: "NewWarehouse" })
/** See the schema of the same name. */
export type NewWarehouse = typeof NewWarehouse.Type

/** What the first stock call of an organization without a warehouse creates (contract 6). */
export const defaultWarehouse: NewWarehouse = { name: "Default Warehouse", code: "DEFAULT" }
