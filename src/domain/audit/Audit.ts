import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { AuditEntry, AuditFilter } from "./AuditEntry.ts"

/** The audit trail (spec §4 Audit, contract, platform §10). */
export class Audit extends Context.Service<Audit, {
  /**
   * A page of entries, newest first; includes changes as soon as they are committed. `event` is a name, or one of the
   * short forms of older clients.
   */
  readonly list: (filter: AuditFilter, page: PageRequest) => Effect.Effect<PageOf<AuditEntry>, never, CurrentActor>
}>()("stoa/domain/audit/Audit") {}
