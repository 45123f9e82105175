import { Effect } from "effect"
import { headerProblem } from "../../../domain/import-export/CsvTable.ts"
import { PayloadTooLarge, type ValidationFailed } from "../../../domain/platform/errors/ApiErrors.ts"
import { isStorableJson } from "../../../domain/platform/text/Storable.ts"
import { type CsvRow, openCsv } from "../../../workflows/import-export/CsvText.ts"
import { notStorable } from "../../../workflows/import-export/FileRows.ts"
import { type Arrival, FileUnreadable, readAs, textOf } from "../../../workflows/import-export/FileText.ts"

/** A CSV file with the names of its columns. */
export interface CsvFile {
  readonly header: ReadonlyArray<string>
  readonly rows: ReadonlyArray<CsvRow>
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const readBytes = async (bytes: Uint8Array, required: ReadonlyArray<string>): Promise<CsvFile> => {
  const arrival: Arrival = { bytes: 0 }
  const { header, rows } = await openCsv(textOf(once(bytes), arrival, bytes.length), arrival)
  const problem = headerProblem(header, () => true, required)
  if (problem !== undefined) throw new FileUnreadable(`${problem} ${readAs(arrival)}`)
  const checked = ({ cells, line, problem }: CsvRow): CsvRow => ({
    line,
    cells,
    problem: problem ?? (isStorableJson([...cells.values()]) ? null : notStorable)
  })
  return { header, rows: (await Array.fromAsync(rows)).map(checked) }
}

const refusalOf = (error: unknown) =>
  error instanceof FileUnreadable || error instanceof PayloadTooLarge ? Effect.fail(error) : Effect.die(error)

/**
 * Reads the body of a route of bytes as imports of the core read CSV: its encoding and separator are recognised, its first line
 * names the columns. A row that cannot be taken says its `problem`. 422 for a file that cannot be read, or has a required column not or twice.
 */
export const readCsv = (
  bytes: Uint8Array,
  required: ReadonlyArray<string>
): Effect.Effect<CsvFile, PayloadTooLarge | ValidationFailed> =>
  Effect.flatten(Effect.promise(() => readBytes(bytes, required).then(Effect.succeed, refusalOf)))
