import { Equal } from "effect"
import { over } from "../pricing/Bounds.ts"
import { blankCustomer, type Customer, type CustomerChange, type NewCustomer, type NewRecord } from "./Customer.ts"

/** How the metadata of a change apply: they replace the record's, or merge into them at the top level. */
export type MetadataMode = "replace" | "merge"

const metadataAfter = (before: Customer["metadata"], sent: CustomerChange["metadata"], mode: MetadataMode) => {
  if (sent === undefined) return before
  return mode === "replace" ? sent ?? {} : { ...before, ...sent }
}

/** A profile after a change. Returns the same record when nothing differs, so that nothing is written or emitted. */
export const changedCustomer = (before: Customer, sent: CustomerChange, mode: MetadataMode, now: Date): Customer => {
  const after = {
    ...before,
    firstName: over(sent.firstName, before.firstName),
    lastName: over(sent.lastName, before.lastName),
    phone: over(sent.phone, before.phone),
    email: over(sent.email, before.email),
    metadata: metadataAfter(before.metadata, sent.metadata, mode)
  }
  return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
}

/** A customer that staff enters. Without a login they get a `userId` that no login ever has. */
export const newCustomer = (sent: NewCustomer, record: Omit<NewRecord, "userId">): Customer => {
  const login = sent.userId ?? null
  return {
    ...blankCustomer({ ...record, userId: login ?? `anonymous_${record.id}` }),
    email: sent.email ?? null,
    phone: sent.phone ?? null,
    firstName: sent.firstName ?? null,
    lastName: sent.lastName ?? null,
    metadata: { ...sent.metadata, ...(login === null ? { walkIn: true } : {}) }
  }
}
