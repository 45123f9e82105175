import { Data, Effect, Fiber, Layer, Option, Stream } from "effect"
import { createWriteStream } from "node:fs"
import { open } from "node:fs/promises"
import { basename } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import {
  type ExportFormat,
  type FileEncoding,
  formatOfName,
  type Import,
  type ImportFormat,
  type ImportOptions,
  isOver,
  type Kind,
  reasonOf
} from "../../domain/import-export/Import.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import { JobRunner } from "../../domain/platform/jobs/Jobs.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { OrganizationRepo } from "../../domain/platform/tenancy/OrganizationRepo.ts"
import { ExportFiles } from "../../workflows/import-export/ExportFiles.ts"
import { ImportUploads } from "../../workflows/import-export/ImportUploads.ts"
import { loggingLayer, servicesApp } from "../App.ts"
import type { AppSettings } from "../config/AppConfig.ts"

export class ImportExportRefused extends Data.TaggedError("ImportExportRefused")<{ readonly message: string }> {}

const refuse = (message: string) => Effect.fail(new ImportExportRefused({ message }))

export interface AskedImport {
  readonly file: string
  readonly kind: Kind
  readonly format: Option.Option<ImportFormat>
  readonly org: Option.Option<string>
  readonly dryRun: boolean
  readonly currency: Option.Option<string>
  readonly warehouse: Option.Option<string>
  readonly pictures: Option.Option<boolean>
  readonly encoding: Option.Option<FileEncoding>
}

export interface AskedExport {
  readonly kind: Kind
  readonly format: ExportFormat
  readonly org: Option.Option<string>
  readonly out: Option.Option<string>
}

const shownReasons = 20

const actingIn = Effect.fnUntraced(function*(asked: Option.Option<string>) {
  const organization = Option.getOrElse(asked, () => "") || (yield* StoreSettings).defaultOrganizationId
  return (yield* (yield* OrganizationRepo).exists(organization))
    ? systemActor(organization, "system:command-line")
    : yield* refuse(`There is no organization "${organization}".`)
})

const recorded = <A, R>(
  work: Effect.Effect<A, { readonly error?: { readonly message: string }; readonly message?: string }, R>
) => Effect.catch(work, ({ error, message }) => refuse(error?.message ?? message ?? "The command failed."))

/**
 * Waits for an import. Without a process that serves the queue this one does the work. Interrupted, the import
 * continues in the next one.
 */
const untilOver = Effect.fnUntraced(function*(begun: Import, seen: (record: Import) => void) {
  const imports = yield* Imports
  const runner = yield* JobRunner
  const working = yield* Effect.forkChild(
    Effect.forever(Effect.delay(Effect.ignoreCause(runner.run({ queue: "imports", limit: 1 })), "250 millis"))
  )
  let record = begun
  for (; !isOver(record); record = yield* imports.get(begun.id)) {
    seen(record)
    yield* Effect.sleep("200 millis")
  }
  seen(record)
  yield* Fiber.interrupt(working)
  return record
})

const reasonsOf = Effect.fnUntraced(function*({ id, refused, warned }: Import) {
  const imports = yield* Imports
  const linesOf = Effect.fnUntraced(function*(list: "refusals" | "warnings", count: number, before: string) {
    if (count === 0) return []
    const { items } = yield* imports[list](id, { page: 1, limit: shownReasons })
    const lines = items.map(({ issues, key, line }) =>
      `${before}line ${line}${key === null ? "" : ` (${key})`}: ${reasonOf({ issues })}`
    )
    return count > items.length
      ? [...lines, `… and ${count - items.length} more: GET /api/imports/${id}/${list}`]
      : lines
  })
  return [...yield* linesOf("refusals", refused, ""), ...yield* linesOf("warnings", warned, "warning: ")]
})

/** Opened before an import is created: a wrong name leaves none behind. */
const bytesOf = Effect.fnUntraced(function*(file: string) {
  const handle = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const opened = await open(file)
        if (!(await opened.stat()).isDirectory()) return opened
        await opened.close()
        throw new Error("it is a folder")
      },
      catch: (error) => new ImportExportRefused({ message: `${file} cannot be read: ${causeOf(error)}.` })
    }),
    (opened) => Effect.promise(() => opened.close())
  )
  return Stream.fromAsyncIterable<Uint8Array, unknown>(handle.createReadStream({ autoClose: false }), (error) => error)
})

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return "code" in error && error.code === "ENOENT" ? "there is no such file" : error.message
}

const width = 30

const grouped = (count: number): string => count.toLocaleString("en")

const countsOf = ({ created, refused, unchanged, updated, warned }: Import): string =>
  `${grouped(created)} created, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged, ${
    grouped(refused)
  } refused${warned === 0 ? "" : `, ${grouped(warned)} with a warning`}`

const shareOf = ({ read, rows }: Import): number => rows === 0 ? 1 : read / rows

export const barOf = (record: Import): string => {
  const share = shareOf(record)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  const done = Math.round(share * width)
  return `${"█".repeat(done)}${"░".repeat(width - done)} ${percent}  ${grouped(record.read)} of ${
    grouped(record.rows)
  }  ${countsOf(record)}`
}

export interface Screen {
  readonly isTTY?: boolean
  readonly write: (text: string) => unknown
}

export const progressOn = (screen: Screen) => {
  let shown = -1
  return (record: Import): void => {
    if (screen.isTTY === true) {
      screen.write(`\r\u001b[2K${barOf(record)}`)
      return
    }
    const tenth = Math.floor(shareOf(record) * 10)
    if (tenth === shown || record.state === "receiving") return
    shown = tenth
    screen.write(`${grouped(record.read)} of ${grouped(record.rows)} records: ${countsOf(record)}\n`)
  }
}

const runImport = Effect.fnUntraced(function*(asked: AskedImport, screen: Screen) {
  const format = Option.getOrUndefined(asked.format) ?? formatOfName(asked.file)
  if (format === undefined) return yield* refuse("--format is needed: the name of the file does not say what it is.")
  const options: ImportOptions = {
    kind: asked.kind,
    format,
    fileName: basename(asked.file),
    dryRun: asked.dryRun,
    currency: Option.getOrNull(asked.currency),
    warehouse: Option.getOrNull(asked.warehouse),
    pictures: Option.getOrUndefined(asked.pictures),
    encoding: Option.getOrUndefined(asked.encoding)
  }
  const actor = yield* actingIn(asked.org)
  const work = Effect.gen(function*() {
    const begun = yield* Effect.scoped(Effect.flatMap(
      bytesOf(asked.file),
      (bytes) => Effect.flatMap(ImportUploads, (uploads) => uploads.receive(options, bytes, null))
    ))
    const record = yield* untilOver(begun, progressOn(screen))
    if (screen.isTTY === true) screen.write("\n")
    return { record, reasons: yield* reasonsOf(record) }
  })
  const { reasons, record } = yield* Effect.provideService(recorded(work), CurrentActor, actor)
  screen.write([`Import ${record.id} ${record.state}${record.dryRun ? " (nothing was changed)" : ""}.`, ...reasons, ""]
    .join("\n"))
  if (record.state !== "completed") return yield* refuse(record.error ?? `The import is ${record.state}.`)
  if (record.refused > 0) return yield* refuse(`${record.refused} records were refused.`)
})

const runExport = Effect.fnUntraced(function*(asked: AskedExport, out: NodeJS.WritableStream) {
  const actor = yield* actingIn(asked.org)
  const file = yield* Effect.provideService(
    recorded(Effect.flatMap(ExportFiles, (files) => files.write(asked.kind, asked.format))),
    CurrentActor,
    actor
  )
  const target = Option.match(asked.out, { onNone: () => out, onSome: (path) => createWriteStream(path) })
  yield* Effect.tryPromise({
    try: () => pipeline(Readable.from(Stream.toAsyncIterable(file.text)), target, { end: Option.isSome(asked.out) }),
    catch: (error) => new ImportExportRefused({ message: `The file could not be written: ${String(error)}` })
  })
})

const services = (settings: AppSettings) =>
  Layer.provideMerge(
    OrganizationRepo.layer,
    Layer.provide(servicesApp({ ...settings, role: "api" }), loggingLayer(settings))
  )

export const importExportCommands = (settings: AppSettings) => ({
  import: (asked: AskedImport, screen: Screen) => Effect.provide(runImport(asked, screen), services(settings)),
  export: (asked: AskedExport, out: NodeJS.WritableStream) => Effect.provide(runExport(asked, out), services(settings))
})
