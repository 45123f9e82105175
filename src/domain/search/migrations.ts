import { statements } from "../modules/StatementsRepo.ts"
import { askedWords } from "./AskedWordsRepo.ts"
import { builtDocuments } from "./DocumentsRepo.ts"
import { comparableWords } from "./FoldingRepo.ts"
import { formerIndex, indexTables } from "./IndexTablesRepo.ts"
import { indexTriggers } from "./IndexTriggersRepo.ts"
import { firstFill, indexWrites } from "./IndexWritesRepo.ts"

/**
 * The index, its triggers on the catalog's tables, and what is in the catalog already (ADR 16). The numbers before the first
 * are those of earlier layouts, which are taken away: an index is built anew and not led over.
 */
export const migrations = {
  "0007_search": statements(
    ...formerIndex,
    ...comparableWords,
    ...indexTables,
    ...builtDocuments,
    ...indexWrites,
    ...askedWords,
    ...indexTriggers,
    firstFill
  )
}
