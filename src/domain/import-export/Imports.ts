import { Context, Effect, Layer } from "effect"
import { CurrentActor, requireAnyOf } from "../platform/access/Actor.ts"
import { conflict, notFound } from "../platform/errors/ErrorKinds.ts"
import type { ImportId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { type ImportFormat, isExternal, type Kind, needed } from "./Import.ts"
import { ImportRepo } from "./ImportRepo.ts"

export class ImportNotFound extends notFound("Import", "Import not found.") {}
export class ImportOver extends conflict("ImportOver", "The import is over.") {}

/** Imports of kinds that the caller can import (docs/import-export.md). */
export class Imports extends Context.Service<Imports>()("stoa/domain/import-export/Imports", {
  make: Effect.map(ImportRepo, (repo) => {
    const admit = Effect.fnUntraced(function*(permissions: typeof needed[Kind]["write"]) {
      const actor = yield* CurrentActor
      yield* Effect.forEach(permissions, (any) => requireAnyOf(actor, any), { discard: true })
    })

    const admitImport = (kind: Kind, format: ImportFormat) =>
      admit(
        isExternal(format)
          ? [...needed.catalog.write, ...needed.prices.write, ...needed.stock.write]
          : needed[kind].write
      )

    const admitExport = (kind: Kind) => admit(needed[kind].read)

    /** 404, and 403 for a kind that the caller may not import. */
    const get = Effect.fn("Imports.get")(function*(id: ImportId) {
      const found = (yield* repo.find(id)) ?? (yield* new ImportNotFound())
      yield* admitImport(found.kind, found.format)
      return found
    })

    const refusals = Effect.fn("Imports.refusals")(function*(id: ImportId, page: PageRequest) {
      yield* get(id)
      return yield* repo.refusals(id, page)
    })

    const warnings = Effect.fn("Imports.warnings")(function*(id: ImportId, page: PageRequest) {
      yield* get(id)
      return yield* repo.warnings(id, page)
    })

    const changes = Effect.fn("Imports.changes")(function*(id: ImportId, page: PageRequest) {
      yield* get(id)
      return yield* repo.changes(id, page)
    })

    /** Stops after the current batch; finished batches stay. 409 if the import has ended. */
    const cancel = Effect.fn("Imports.cancel")(function*(id: ImportId) {
      yield* get(id)
      return (yield* repo.end(id, "cancelled", null)) ?? (yield* new ImportOver())
    })

    return { admitImport, admitExport, get, list: repo.list, refusals, warnings, changes, cancel }
  })
}) {
  static readonly layer = Layer.effect(Imports, Imports.make)
}
