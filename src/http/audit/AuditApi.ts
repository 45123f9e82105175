import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEntry } from "../../domain/audit/Audit.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { limitOf, pageQuery } from "../../domain/platform/paging/Paging.ts"
import { FreeText } from "../../domain/platform/text/Storable.ts"
import { Moment, Until } from "../../domain/platform/text/Time.ts"
import { summary } from "../endpoint/Resource.ts"
import { Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors, parseOptions } from "../middleware/Errors.ts"

const text = (description: string) => Schema.optional(FreeText.annotate({ description }))

const period = {
  ...pageQuery,
  limit: limitOf(50),
  from: Schema.optional(Moment),
  to: Schema.optional(Until)
}

/** The audit trail (spec §4 Audit). */
export const AuditGroup = HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("list", "/api/audit", {
    query: {
      ...period,
      entityType: text("Kind of record, for example order, catalog_entity or inventory."),
      entityId: text("Id of the record."),
      event: text(
        "Name of the change, for example orders.statusChange; or created, updated, status_changed, adjusted."
      ),
      actorId: text("Who made the change.")
    },
    success: Page(AuditEntry)
  })
    .annotate(Access, anyOf("audit:read"))
    .annotateMerge(summary("List changes, newest first")),
  HttpApiEndpoint.get("history", "/api/audit/:entityType/:entityId", {
    params: { entityType: FreeText, entityId: FreeText },
    query: period,
    success: Page(AuditEntry)
  })
    .annotate(Access, anyOf("audit:read"))
    .annotateMerge(summary("List the history of a record, newest first"))
)
  .annotateMerge(parseOptions)
  .middleware(Errors).middleware(AccessControl)
