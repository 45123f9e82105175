import { Effect, Equal, Schema, Struct } from "effect"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, VariantId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, Metadata, shopperObject, unsaid } from "../platform/text/Storable.ts"

const orNull = <S extends Schema.Top>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

const LineOption = Schema.Struct({
  name: Schema.String,
  value: Schema.String.pipe(about("Value for shoppers."))
}).annotate({ identifier: "LineOption" })

const LineImage = Schema.Struct({
  url: Schema.String,
  alt: Schema.NullOr(Schema.String),
  width: Schema.NullOr(Schema.Int),
  height: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "LineImage", description: "Main picture of the item; null without one." })

/** How people recognise the item of a line. */
export const ShownItem = Schema.Struct({
  title: Schema.String,
  variantTitle: orNull(Schema.String).annotate({
    description: "The values of the variant's options; null for an item without variants.",
    examples: ["M / navy"]
  }),
  options: Schema.Array(LineOption).pipe(
    Schema.annotate({ examples: [[{ name: "Size", value: "M" }, { name: "Colour", value: "navy" }]] })
  ).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed([])),
    about("Options of the variant with their values; empty for an item without variants.")
  ),
  sku: Schema.NullOr(Schema.String),
  slug: orNull(Schema.String).pipe(about("Part of the address of its page.")),
  image: orNull(LineImage)
})

export const ListPrice = orNull(Amount).annotate({
  description:
    "The price to strike through, never below the unit price: what the item is compared at, else its price " +
    "before modifiers and group prices. Minor units."
})

/**
 * The fields of a line from cart to order. A new field needs a column in `cart_lines` and `order_lines`, and a default:
 * lines are also stored in JSON (contract §12).
 */
export const Line = Schema.Struct({
  entityId: EntityId,
  entityType: Schema.String.pipe(about("Type of the entity, such as product.")),
  variantId: Schema.NullOr(VariantId),
  ...ShownItem.fields,
  listPrice: ListPrice,
  quantity: Schema.Int,
  notes: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: Metadata.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})

export const ChosenLine = Line.mapFields(Struct.omit(["entityType", "listPrice", ...Struct.keys(ShownItem.fields)]))
export type ChosenLine = typeof ChosenLine.Type

/** Names the item of a line to people: "Linen Shirt, M / navy". */
export const itemLabel = (
  { title, variantTitle }: { readonly title: string; readonly variantTitle?: string | null | undefined }
): string => variantTitle ? `${title}, ${variantTitle}` : title

export const Quantity = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9999 }))

export const LineNotes = FreeText.check(Schema.isMaxLength(500)).annotate({
  description:
    "A remark about the line, such as \"no onions\". The same line added again keeps it, unless it has another.",
  examples: ["No onions"]
})

const reserved = "manualDiscount"

const BoundedMetadata = shopperObject(4_096)

export const isBoundedMetadata = Schema.is(BoundedMetadata)

const LineMetadata = BoundedMetadata.check(
  Schema.makeFilter(
    (metadata: object) => !Object.hasOwn(metadata, reserved) || `must not have the key ${reserved}.`,
    unsaid
  )
).annotate({
  description:
    "Values that distinguish the line, at most 4 kB of JSON: lines of one product are one line only if they have " +
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

/** The same for all lines without any, so that comparing them costs nothing. */
const noMetadata: ChosenLine["metadata"] = {}

export const chosenLine = ({ entityId, metadata, notes, quantity, variantId }: SentLine): ChosenLine => ({
  entityId,
  variantId: variantId ?? null,
  quantity,
  notes: notes ?? null,
  metadata: metadata ?? noMetadata
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
