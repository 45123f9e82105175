import type { CellType } from "./CsvCell.ts"
import type { ImportedKind } from "./Kind.ts"

/** Columns, in their order, with the fields they clear. */
export interface CsvFields {
  readonly types: Readonly<Record<string, CellType>>
  /**
   * Fields that an empty cell sets to null, or to an empty list for lists; for other fields an empty cell means absent.
   */
  readonly cleared: ReadonlyArray<string>
}

/** The columns of a kind of records in CSV. */
export interface CsvColumns extends CsvFields {
  /** Columns every file must have. */
  readonly required: ReadonlyArray<string>
  /** Columns that are accepted and not read: ids in older exports. */
  readonly ignored?: ReadonlyArray<string>
  /** A list of the record with a line for each element; lines with the same key follow each other. */
  readonly lines?: CsvFields & {
    readonly key: string
    readonly field: string
    readonly prefix: string
    /** The field is left out of a record without elements. */
    readonly isOptional: boolean
  }
  /** Translated texts: `en` under the column's name, other locales with a suffix, like `title:de`. */
  readonly texts?: CsvFields
}

const flat = (
  types: CsvColumns["types"],
  required: ReadonlyArray<string>,
  cleared: ReadonlyArray<string> = []
): CsvColumns => ({ types, required, cleared })

const sellable = { slug: "text", sku: "text", options: "json" } as const

/** The columns of every kind. */
export const csvColumns: { readonly [K in ImportedKind]: CsvColumns } = {
  catalog: {
    types: {
      slug: "text",
      type: "text",
      status: "text",
      isVisible: "boolean",
      taxClass: "text",
      metadata: "json",
      customFields: "json",
      categories: "list",
      brands: "list",
      options: "json",
      media: "json"
    },
    cleared: ["taxClass", "categories", "brands"],
    required: ["slug"],
    texts: {
      types: {
        title: "text",
        subtitle: "text",
        description: "text",
        richDescription: "json",
        seoTitle: "text",
        seoDescription: "text"
      },
      cleared: ["subtitle", "description", "seoTitle", "seoDescription"]
    },
    lines: {
      key: "slug",
      field: "variants",
      prefix: "variant.",
      isOptional: true,
      types: { sku: "text", barcode: "text", taxClass: "text", status: "text", metadata: "json", options: "json" },
      cleared: ["sku", "barcode", "taxClass"]
    }
  },
  categories: flat(
    { slug: "text", parent: "text", sortOrder: "number", status: "text", metadata: "json" },
    ["slug"],
    ["parent"]
  ),
  brands: flat({ slug: "text", displayName: "text", metadata: "json" }, ["slug"]),
  prices: flat(
    {
      ...sellable,
      currency: "text",
      amount: "number",
      compareAtAmount: "number",
      customerGroup: "text",
      customerGroupId: "text",
      minQuantity: "number",
      maxQuantity: "number",
      validFrom: "text",
      validUntil: "text",
      metadata: "json"
    },
    ["currency", "amount"],
    ["compareAtAmount"]
  ),
  stock: flat(
    {
      ...sellable,
      warehouse: "text",
      onHand: "number",
      reserved: "number",
      available: "number",
      unitCost: "number",
      reorderThreshold: "number",
      reorderQuantity: "number"
    },
    ["onHand"],
    ["unitCost", "reorderThreshold", "reorderQuantity"]
  ),
  customers: flat(
    {
      email: "text",
      firstName: "text",
      lastName: "text",
      phone: "text",
      groups: "list",
      metadata: "json",
      addresses: "json"
    },
    ["email"],
    ["firstName", "lastName", "phone", "groups"]
  ),
  orders: {
    types: {
      orderNumber: "text",
      status: "text",
      placedAt: "text",
      email: "text",
      currency: "text",
      subtotal: "number",
      discountTotal: "number",
      shippingTotal: "number",
      taxTotal: "number",
      taxIncluded: "boolean",
      grandTotal: "number",
      amountCaptured: "number",
      refundedTotal: "number",
      fulfilledAt: "text",
      cancelledAt: "text",
      shippingAddress: "json",
      metadata: "json"
    },
    cleared: [],
    required: [
      "orderNumber",
      "status",
      "placedAt",
      "currency",
      "grandTotal",
      "line.title",
      "line.quantity",
      "line.unitPrice"
    ],
    ignored: ["id", "customerId", "line.entityId", "line.variantId"],
    lines: {
      key: "orderNumber",
      field: "lineItems",
      prefix: "line.",
      isOptional: false,
      types: {
        sku: "text",
        slug: "text",
        options: "json",
        title: "text",
        entityType: "text",
        quantity: "number",
        unitPrice: "number",
        totalPrice: "number",
        discountAmount: "number",
        taxAmount: "number",
        refundedQuantity: "number",
        fulfillmentStatus: "text"
      },
      cleared: []
    }
  }
}
