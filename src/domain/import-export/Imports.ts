import { Context, Effect, Layer } from "effect"
import { CurrentActor, requireAnyOf } from "../access/Actor.ts"
import { conflict, notFound } from "../errors/ErrorKinds.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { type ImportFormat, isExternal, type Kind } from "./Import.ts"
import { ImportRepo } from "./ImportRepo.ts"

export class ImportNotFound extends notFound("Import", "Import not found.") {}
export class ImportOver extends conflict("ImportOver", "The import is over.") {}

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

const [firstReader = "", ...readers] = new Set(Object.values(needed).flatMap(({ read }) => read.flat()))

/** All permissions that allow an export of any kind. */
export const exporting: Alternatives = [firstReader, ...readers]

/** Existing imports, visible to callers who can import the same kind (docs/import-export.md). */
export class Imports extends Context.Service<Imports>()("stoa/domain/import-export/Imports", {
  make: Effect.map(ImportRepo, (repo) => {
    const admit = Effect.fnUntraced(function*(permissions: Needed) {
      const actor = yield* CurrentActor
      yield* Effect.forEach(permissions, (any) => requireAnyOf(actor, any), { discard: true })
    })

    /** Fails unless the caller may import this. */
    const admitImport = (kind: Kind, format: ImportFormat) =>
      admit(
        isExternal(format)
          ? [...needed.catalog.write, ...needed.prices.write, ...needed.stock.write]
          : needed[kind].write
      )

    /** Fails unless the caller may export this. */
    const admitExport = (kind: Kind) => admit(needed[kind].read)

    /** 404, and 403 for a kind that is not the caller's. */
    const get = Effect.fn("Imports.get")(function*(id: string) {
      const found = (yield* repo.find(id)) ?? (yield* new ImportNotFound())
      yield* admitImport(found.kind, found.format)
      return found
    })

    /** Records that were refused, in the order of the file. */
    const refusals = Effect.fn("Imports.refusals")(function*(id: string, page: PageRequest) {
      yield* get(id)
      return yield* repo.refusals(id, page)
    })

    /** Stops after the current batch; finished batches stay. 409 if the import has ended. */
    const cancel = Effect.fn("Imports.cancel")(function*(id: string) {
      yield* get(id)
      return (yield* repo.end(id, "cancelled", null)) ?? (yield* new ImportOver())
    })

    return { admitImport, admitExport, get, list: repo.list, refusals, cancel }
  })
}) {
  static readonly layer = Layer.effect(Imports, Imports.make)
}
