import { Context, Effect, Exit, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { ImportExportSettings, type ImportOptions, isExternal } from "../../domain/import-export/Import.ts"
import { type FileText, ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { ExternalPictures } from "../../domain/media/ExternalPictures.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { PayloadTooLarge, ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict, invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import type { ImportId } from "../../domain/platform/ids/Id.ts"
import { Jobs } from "../../domain/platform/jobs/Jobs.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { fileRows } from "./FileRows.ts"
import { type Arrival, textOf } from "./FileText.ts"
import { importTask } from "./ImportRuns.ts"

class ImportDiscarded extends conflict("ImportDiscarded", "The import was discarded while its file arrived.") {}
class KeyReused extends invalid(
  "ImportKeyReused",
  "Idempotency-Key",
  "must be a new one: this one was used with another request.",
  "key_reused"
) {}
class NoPictures extends invalid("NoPictures", "pictures", "pictures can only be fetched for files of other shops.") {}

/** Records and bytes that are staged at once: both bound what is in memory. */
const packRows = 500
const packBytes = 1_048_576

interface Pack {
  readonly rows: ReadonlyArray<FileText>
  readonly bytes: number
}

const marker = "\"rows\":["

/** The texts of two parts of a record, whose rows stand at the end. */
const joined = (one: string, other: string): string =>
  `${one.slice(0, -2)},${other.slice(other.indexOf(marker) + marker.length)}`

async function* packs(
  bytes: AsyncIterable<Uint8Array>,
  options: ImportOptions,
  arrival: Arrival,
  maxBytes: number
): AsyncGenerator<Pack> {
  let [rows, size]: [Array<FileText>, number] = [[], 0]
  // Where the record of a key stands in the pack.
  const places = new Map<string, number>()
  const file = textOf(bytes, arrival, maxBytes, options.encoding)
  for await (const { key = null, line, problem, record } of fileRows(file, options, arrival)) {
    const text = problem === null ? JSON.stringify(record) : null
    const place = key === null ? undefined : places.get(key)
    const before = place === undefined ? undefined : rows[place]
    if (place !== undefined && before !== undefined) {
      rows[place] = { ...before, text: joined(before.text ?? "", text ?? "") }
    } else {
      if (key !== null) places.set(key, rows.length)
      rows.push({ line, key, text, problem })
    }
    size += text?.length ?? 0
    if (rows.length < packRows && size < packBytes) continue
    yield { rows, bytes: arrival.bytes }
    ;[rows, size] = [[], 0]
    places.clear()
  }
  yield { rows, bytes: arrival.bytes }
}

/** A key per caller, because two callers can choose the same text. Only its digest is stored. */
const scopeOf = ({ keyId, type, userId }: Actor, key: string): string =>
  createHash("sha256").update(JSON.stringify([type, keyId ?? userId, key])).digest("hex")

const make = Effect.gen(function*() {
  const imports = yield* Imports
  const repo = yield* ImportRepo
  const { maxFileBytes } = yield* ImportExportSettings
  const jobs = yield* Jobs
  const pictures = yield* ExternalPictures
  const { defaultCurrency } = yield* StoreSettings

  const store = Effect.fnUntraced(
    function*(id: ImportId, options: ImportOptions, file: Stream.Stream<Uint8Array, unknown>) {
      const hash = createHash("sha256").update(JSON.stringify(options))
      const arrival: Arrival = { bytes: 0 }
      const bytes = Stream.toAsyncIterable(Stream.tap(file, (chunk) => Effect.sync(() => hash.update(chunk))))
      let after = 0
      yield* Stream.fromAsyncIterable(packs(bytes, options, arrival, maxFileBytes), (error) => error).pipe(
        Stream.runForEach(({ bytes, rows }) =>
          Effect.flatMap(repo.stage(id, after, rows, bytes), (staged) => {
            after = staged ?? after
            return staged === undefined
              ? Effect.die(new Error("An import went away while its file arrived."))
              : Effect.void
          })
        ),
        Effect.catch((error) =>
          error instanceof ValidationFailed || error instanceof PayloadTooLarge ? Effect.fail(error) : Effect.die(error)
        )
      )
      return hash.digest("hex")
    }
  )

  const queue = (id: ImportId, key: string | null, hash: string) =>
    repo.together(Effect.gen(function*() {
      const actor = yield* CurrentActor
      const { organizationId } = actor
      const queued = yield* repo.queue(id, key === null ? null : scopeOf(actor, key), hash)
      if (queued === undefined) return yield* new ImportDiscarded()
      if (!queued.sameContent) return yield* new KeyReused()
      if (!queued.earlier) yield* jobs.enqueue(importTask, { importId: id }, { organizationId })
      return queued
    }))

  const settled = Effect.fnUntraced(function*(asked: ImportOptions) {
    yield* imports.admitImport(asked.kind, asked.format)
    if (isExternal(asked.format)) {
      return { ...asked, currency: asked.currency ?? defaultCurrency, pictures: yield* pictures.admit(asked.pictures) }
    }
    return asked.pictures === true ? yield* new NoPictures() : { ...asked, pictures: false }
  })

  /**
   * Receives a file completely; a refused one leaves nothing behind. 403 for a kind the caller cannot import, or for
   * pictures the caller cannot upload; 413 for a file that is too large; 422 for one that cannot be read. The same
   * `key` returns the first import, or 422 for another file or other options.
   */
  const receive = Effect.fn("ImportUploads.receive")(
    function*(asked: ImportOptions, file: Stream.Stream<Uint8Array, unknown>, key: string | null) {
      const options = yield* settled(asked)
      const id = yield* repo.begin(options)
      return yield* Effect.gen(function*() {
        const hash = yield* store(id, options, file)
        const { earlier, record } = yield* queue(id, key, hash)
        if (earlier) yield* repo.discard(id)
        return record
      }).pipe(
        // A client that disconnects interrupts this, so discard the partial file too.
        Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : repo.discard(id))
      )
    }
  )

  return { receive }
})

/** Receives files: stages their records while they arrive; a job processes them once the file is complete. */
export class ImportUploads
  extends Context.Service<ImportUploads>()("stoa/workflows/import-export/ImportUploads", { make })
{
  static readonly layer = Layer.effect(ImportUploads, make)
}
