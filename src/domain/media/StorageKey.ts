import { DateTime, Effect } from "effect"
import { newId } from "../ids/Id.ts"

/** The key of a new file (contract §10): nothing of it comes from the client. */
export const newStorageKey = Effect.fnUntraced(function*(extension: string) {
  const now = yield* DateTime.now
  return `${DateTime.toPartsUtc(now).year}/${newId()}.${extension}`
})

/** Whether a text could be a key that the service made; nothing else is looked for, in tables or on disks. */
export const isStorageKey = (text: string): boolean => /^\d{4}\/[0-9a-f-]{36}\.[a-z0-9]{2,5}$/.test(text)
