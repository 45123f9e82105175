import { Schema } from "effect"

/** What can be imported and exported (docs/import-export.md). */
export const Kind = Schema.Literals(["catalog", "categories", "brands", "prices", "stock", "customers", "orders"])
export type Kind = typeof Kind.Type

/** Format of an imported file. `shopify` and `woocommerce` are the CSV files of their product exports. */
export const ImportFormat = Schema.Literals(["csv", "jsonl", "shopify", "woocommerce"])
export type ImportFormat = typeof ImportFormat.Type

/** Format of an exported file. */
export const ExportFormat = Schema.Literals(["csv", "jsonl"])
export type ExportFormat = typeof ExportFormat.Type

/** Formats that only describe products, with their prices and stock. */
export const isExternal = (format: ImportFormat): format is "shopify" | "woocommerce" =>
  format === "shopify" || format === "woocommerce"

type Alternatives = readonly [string, ...ReadonlyArray<string>]
type Needed = ReadonlyArray<Alternatives>

const catalogReaders: Needed = [["catalog:read:unpublished", "catalog:create", "catalog:update"]]

/** The same permissions as those of the routes of these records: one of each list. */
const needed: { readonly [K in Kind]: { readonly write: Needed; readonly read: Needed } } = {
  catalog: { write: [["catalog:create"], ["catalog:update"]], read: catalogReaders },
  categories: { write: [["catalog:update"]], read: catalogReaders },
  brands: { write: [["catalog:update"]], read: catalogReaders },
  prices: {
    write: [["pricing:create", "pricing:manage"]],
    read: [["pricing:read", "pricing:update", "pricing:manage"]]
  },
  stock: { write: [["inventory:adjust"]], read: [["inventory:read"]] },
  customers: { write: [["customers:read"], ["customers:create"], ["customers:update"]], read: [["customers:read"]] },
  // Shoppers can also create orders, but only staff can set prices and totals.
  orders: { write: [["orders:create"], ["orders:manage"]], read: [["orders:read"]] }
}

/** Permissions an import needs: one of each list. */
export const neededToImport = (kind: Kind, format: ImportFormat): Needed =>
  isExternal(format)
    ? [...needed.catalog.write, ...needed.prices.write, ...needed.stock.write]
    : needed[kind].write

/** The same for an export. */
export const neededToExport = (kind: Kind): Needed => needed[kind].read

/** All permissions that allow an import of any kind. */
export const importing: Alternatives = [
  "catalog:create",
  "catalog:update",
  "pricing:create",
  "pricing:manage",
  "inventory:adjust",
  "customers:create",
  "orders:manage"
]

/** All permissions that allow an export of any kind. */
export const exporting: Alternatives = [
  "catalog:read:unpublished",
  "catalog:create",
  "catalog:update",
  "pricing:read",
  "pricing:update",
  "pricing:manage",
  "inventory:read",
  "customers:read",
  "orders:read"
]
