import { statements } from "../modules/StatementsRepo.ts"
import { askedOnce, askedWords } from "./AskedWordsRepo.ts"
import { depth, documents, firstFill, lessWork } from "./DocumentsRepo.ts"
import { comparableWords } from "./FoldingRepo.ts"
import { depthTriggers, indexTriggers } from "./IndexTriggersRepo.ts"
import { narrow } from "./NarrowDocumentsRepo.ts"

/** The index, its triggers on the catalog's tables, and what is in the catalog already (ADR 16). */
export const migrations = {
  "0001_search": statements(...comparableWords, ...documents, ...askedWords, ...indexTriggers, firstFill),
  "0002_fields_and_drafts": statements(...depth, ...depthTriggers),
  "0003_narrow_documents": statements(...narrow, ...askedOnce),
  "0004_less_work": statements(...lessWork)
}
