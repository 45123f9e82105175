import { Schema } from "effect"

/** What can be imported and exported (docs/import-export.md). */
export const Kind = Schema.Literals(["catalog", "categories", "brands", "prices", "stock", "customers", "orders"])
export type Kind = typeof Kind.Type

/** What can be imported. */
export const ImportedKind = Schema.Literals([
  "catalog",
  "categories",
  "brands",
  "prices",
  "stock",
  "customers",
  "orders"
])
export type ImportedKind = typeof ImportedKind.Type

/** Format of an imported file. `shopify` and `woocommerce` are the CSV files of their product exports. */
export const ImportFormat = Schema.Literals(["csv", "jsonl", "shopify", "woocommerce"])
export type ImportFormat = typeof ImportFormat.Type

/** Format of an exported file. */
export const ExportFormat = Schema.Literals(["csv", "jsonl"])
export type ExportFormat = typeof ExportFormat.Type

/** Formats that only describe products, with their prices and stock. */
export const isExternal = (format: ImportFormat): boolean => format === "shopify" || format === "woocommerce"

type Alternatives = readonly [string, ...ReadonlyArray<string>]

const writing: { readonly [K in ImportedKind]: ReadonlyArray<Alternatives> } = {
  catalog: [["catalog:create"], ["catalog:update"]],
  categories: [["catalog:update"]],
  brands: [["catalog:update"]],
  prices: [["pricing:create", "pricing:manage"]],
  stock: [["inventory:adjust"]],
  customers: [["customers:read"], ["customers:create"], ["customers:update"]],
  // Shoppers can also create orders, but only staff can set prices and totals.
  orders: [["orders:create"], ["orders:manage"]]
}

const reading: { readonly [K in Kind]: ReadonlyArray<Alternatives> } = {
  catalog: [["catalog:read:unpublished", "catalog:create", "catalog:update"]],
  categories: [["catalog:read:unpublished", "catalog:create", "catalog:update"]],
  brands: [["catalog:read:unpublished", "catalog:create", "catalog:update"]],
  prices: [["pricing:read", "pricing:update", "pricing:manage"]],
  stock: [["inventory:read"]],
  customers: [["customers:read"]],
  orders: [["orders:read"]]
}

/** Permissions an import needs: one of each list, the same as the routes of these records. */
export const neededToImport = (kind: ImportedKind, format: ImportFormat): ReadonlyArray<Alternatives> =>
  isExternal(format) ? [...writing.catalog, ...writing.prices, ...writing.stock] : writing[kind]

/** The same for an export. */
export const neededToExport = (kind: Kind): ReadonlyArray<Alternatives> => reading[kind]

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
