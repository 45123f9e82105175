import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { emailKey } from "../platform/text/Email.ts"
import { Time } from "../platform/text/Time.ts"

/** A category of mails to one receiver, whose address is a digest. */
export interface ReceivedCategory {
  readonly digest: string
  readonly category: string
}

/** A receiver's choice about mails of a category; `*`: all others. */
const MailChoice = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  addressDigest: Schema.String,
  category: Schema.String,
  isDeclined: Schema.Boolean,
  createdAt: Time,
  updatedAt: Time
})

export const mailChoices = new Table("mail_choices", MailChoice)

/** Shows no address, and differs between organizations. */
export const digestOf = (organizationId: string, address: string): string =>
  createHash("sha256").update(`${organizationId}\n${emailKey(address)}`).digest("hex")

const make = (sql: SqlClient.SqlClient) => {
  const declinedOnes = decoding(sql, Schema.Struct({ digest: Schema.String, category: Schema.String }))

  /** Records a choice and its change log entry, unless it changes nothing. */
  const choose = Effect.fn("MailChoiceRepo.choose")(
    function*({ category, digest }: ReceivedCategory, isDeclined: boolean, now: Date) {
      const actor = yield* CurrentActor
      yield* sql`with made as (
          insert into mail_choices ${
        mailChoices.insert(sql, {
          id: sql`gen_random_uuid()`,
          organizationId: sql`${actor.organizationId}`,
          addressDigest: sql`${digest}`,
          category: sql`${category}`,
          isDeclined: sql`${isDeclined}::boolean`,
          createdAt: sql`${now}::timestamptz`,
          updatedAt: sql`${now}::timestamptz`
        })
      }
          where ${isDeclined}::boolean or exists (select 1 from mail_choices c
            where c.organization_id = ${actor.organizationId} and c.address_digest = ${digest}
              and c.category in (${category}, '*') and c.is_declined)
          on conflict (organization_id, address_digest, category) do update
            set is_declined = excluded.is_declined, updated_at = excluded.updated_at
            where mail_choices.is_declined <> excluded.is_declined
          returning id, category),
        event as (${
        changeLogRows(sql, actor, {
          type: isDeclined ? "mailChoices.decline" : "mailChoices.accept",
          entityType: "mail_choice",
          entityId: "i.id::text",
          payload: "jsonb_build_object('id', i.id, 'category', i.category)",
          from: "made i"
        })
      }) select 1`
    },
    Effect.orDie
  )

  /** The choices of an address, at most one for each category. */
  const ofAddress = Effect.fn("MailChoiceRepo.ofAddress")(function*(digest: string) {
    return yield* mailChoices.rows(sql)`select ${sql.literal(mailChoices.columns())} from mail_choices
      where organization_id = ${yield* currentOrganization} and address_digest = ${digest} order by category`
  }, Effect.orDie)

  /** Those of the given pairs that are declined; a choice about the category wins over one about `*`. */
  const declined = Effect.fn("MailChoiceRepo.declined")(function*(pairs: ReadonlyArray<ReceivedCategory>) {
    if (pairs.length === 0) return []
    return yield* declinedOnes`select i.digest, i.category
      from (select distinct digest, category
        from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) g (digest text, category text)) i
      cross join lateral (select c.is_declined from mail_choices c
        where c.organization_id = ${yield* currentOrganization} and c.address_digest = i.digest
          and c.category in (i.category, '*')
        order by c.category = '*' limit 1) chosen
      where chosen.is_declined`
  }, Effect.orDie)

  return { choose, ofAddress, declined }
}

export class MailChoiceRepo extends Context.Service<MailChoiceRepo>()("stoa/domain/mail/MailChoiceRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(MailChoiceRepo, MailChoiceRepo.make)
}
