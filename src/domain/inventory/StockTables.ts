import { Schema, Struct } from "effect"
import { Uuid, WarehouseId } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { StockLevel } from "./StockLevel.ts"

const place = ["entityId", "variantId", "warehouseId"] as const

/** The row of a stock level; `sellableId` is the variant, else the entity. */
const StoredLevel = Schema.Struct({
  ...Struct.pick(StockLevel.fields, [
    "id",
    "organizationId",
    ...place,
    "unitCost",
    "averageCost",
    "reorderThreshold",
    "reorderQuantity",
    "allowNegative",
    "lastRestockedAt",
    "updatedAt"
  ]),
  sellableId: Uuid,
  onHand: Schema.Int,
  reserved: Schema.Int,
  incoming: Schema.Int,
  inTransit: Schema.Int
})

export const stockLevels = new Table("stock_levels", StoredLevel, {
  casts: { averageCost: "text" },
  unset: ["averageCost", "incoming", "inTransit", "reorderQuantity", "reorderThreshold", "reserved"]
})

/** Units that a checkout or an order reserves. */
const Hold = Schema.Struct({
  organizationId: Schema.String,
  holder: Schema.String,
  state: Schema.Literals(["held", "sold", "released", "expired", "fulfilled"]),
  expiresAt: Schema.NullOr(Time),
  pricing: Schema.Unknown,
  createdAt: Time,
  updatedAt: Time
})

export const holds = new Table("holds", Hold, { unset: ["expiresAt", "pricing", "createdAt", "updatedAt"] })

const HoldLine = Schema.Struct({
  organizationId: Schema.String,
  holder: Schema.String,
  sellableId: Uuid,
  warehouseId: WarehouseId,
  quantity: Schema.Int
})

export const holdLines = new Table("hold_lines", HoldLine)

/** Units that a checkout or an order waits for. */
const Backorder = Schema.Struct({
  ...Struct.pick(HoldLine.fields, ["organizationId", "holder", "sellableId", "quantity"]),
  createdAt: Time
})

export const backorders = new Table("backorders", Backorder, { unset: ["createdAt"] })

export const Movement = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  ...Struct.pick(StockLevel.fields, place),
  type: Schema.Literals([
    "receipt",
    "sale",
    "return",
    "adjustment",
    "transfer",
    "reservation",
    "release",
    "fulfillment"
  ]),
  quantity: Schema.Int,
  referenceType: Schema.NullOr(Schema.String),
  referenceId: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  performedBy: Schema.NullOr(Schema.String),
  performedAt: Time,
  unitCost: StockLevel.fields.averageCost
})

export const stockMovements = new Table("stock_movements", Movement, {
  casts: { unitCost: "text" },
  unset: ["reason", "performedBy", "performedAt", "unitCost"]
})

/** A document that was posted: its lines, and the answer to each. */
const Posting = Schema.Struct({
  organizationId: Schema.String,
  referenceType: Schema.String,
  referenceId: Schema.String,
  lines: Schema.Unknown,
  posted: Schema.Unknown,
  postedAt: Time
})

export const stockPostings = new Table("stock_postings", Posting, { unset: ["postedAt"] })
