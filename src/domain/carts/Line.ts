import { Effect, Equal, Schema, Struct } from "effect"
import { EntityId, VariantId } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, objectUpTo } from "../platform/text/Storable.ts"

/**
 * The fields of a line from cart to order. A new field needs a column in `cart_lines` and `order_lines`, and a default:
 * lines are also stored in JSON (contract §12).
 */
export const Line = Schema.Struct({
  entityId: EntityId,
  entityType: Schema.String,
  variantId: Schema.NullOr(VariantId),
  sku: Schema.NullOr(Schema.String),
  title: Schema.String,
  quantity: Schema.Int,
  notes: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: Schema.Record(Schema.String, Schema.Unknown).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})

export const ChosenLine = Line.mapFields(Struct.omit(["entityType", "sku", "title"]))
export type ChosenLine = typeof ChosenLine.Type

export const Quantity = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9999 }))

export const LineNotes = FreeText.check(Schema.isMaxLength(500)).annotate({
  description:
    "A remark about the line, such as \"no onions\". The same line added again keeps it, unless it has another.",
  examples: ["No onions"]
})

const reserved = "manualDiscount"

const BoundedMetadata = objectUpTo(4_096)

export const isBoundedMetadata = Schema.is(BoundedMetadata)

const LineMetadata = BoundedMetadata.check(
  Schema.makeFilter((metadata: object) => !Object.hasOwn(metadata, reserved) || `must not have the key ${reserved}`)
).annotate({
  description:
    "What distinguishes the line, at most 4 kB of JSON: lines of one product are one line only if they have " +
    "the same metadata, in any order of keys. It never changes.",
  examples: [{ modifiers: [{ name: "Bacon" }] }]
})

export const SentLine = Schema.Struct({
  entityId: EntityId,
  variantId: maybe(VariantId),
  quantity: Quantity,
  notes: maybe(LineNotes),
  metadata: maybe(LineMetadata)
})
export type SentLine = typeof SentLine.Type

export const chosenLine = ({ entityId, metadata, notes, quantity, variantId }: SentLine): ChosenLine => ({
  entityId,
  variantId: variantId ?? null,
  quantity,
  notes: notes ?? null,
  metadata: metadata ?? {}
})

export const chosenMetadata = ({ metadata }: Pick<ChosenLine, "metadata">): ChosenLine["metadata"] =>
  Struct.omit(metadata, [reserved])

/** Equal lines are one line (contract, plugins §17.1). */
export const isSameLine = (line: ChosenLine, other: ChosenLine): boolean =>
  line.entityId === other.entityId && line.variantId === other.variantId && Equal.equals(line.metadata, other.metadata)

export const lineDetails = Struct.keys(
  Struct.omit(ChosenLine.fields, ["entityId", "variantId", "quantity", "metadata"])
)

/** Merges an equal line. `CartStatements.ts` has the same rule in SQL. */
export const mergedLine = <L extends ChosenLine>(line: L, added: ChosenLine): L => ({
  ...line,
  ...Object.fromEntries(lineDetails.flatMap((field) => added[field] === null ? [] : [[field, added[field]]])),
  quantity: line.quantity + added.quantity
})
