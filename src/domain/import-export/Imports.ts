import { Context, Effect, Layer } from "effect"
import { CurrentActor, requireAnyOf } from "../access/Actor.ts"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { ImportRepo } from "./ImportRepo.ts"
import { type ImportFormat, type Kind, neededToImport } from "./Kind.ts"

const make = Effect.gen(function*() {
  const repo = yield* ImportRepo

  /** Fails unless the caller may import this. */
  const admit = Effect.fn("Imports.admit")(function*(kind: Kind, format: ImportFormat) {
    const actor = yield* CurrentActor
    yield* Effect.forEach(neededToImport(kind, format), (any) => requireAnyOf(actor, any), { discard: true })
  })

  /** 404, and 403 for a kind that is not the caller's. */
  const get = Effect.fn("Imports.get")(function*(id: string) {
    const found = (yield* repo.find(id)) ?? (yield* NotFound.of("Import not found."))
    yield* admit(found.kind, found.format)
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
    return (yield* repo.end(id, "cancelled", null)) ?? (yield* Conflict.of("The import is over."))
  })

  return { admit, get, list: repo.list, refusals, cancel }
})

/** Existing imports, visible to callers who can import the same kind (docs/import-export.md). */
export class Imports extends Context.Service<Imports>()("stoa/domain/import-export/Imports", { make }) {
  static readonly layer = Layer.effect(Imports, make)
}
