import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"

/** A picture in another shop's file, with its position among the pictures of its entity. */
export interface NamedPicture {
  readonly entityId: string
  readonly url: string
  /** From 0, in the order of the file. */
  readonly position: number
  readonly alt: string | null
}

/** The stored record of such a picture; attached: it was fetched, even if the medium has been deleted since. */
export interface ExternalPicture extends NamedPicture {
  readonly id: string
  readonly slug: string
  readonly isAttached: boolean
}

/** A picture whose medium is about to be attached; its lock excludes other attempts. */
export interface OpenPicture extends NamedPicture {
  /** The entity itself shows a primary picture already. */
  readonly hasPrimary: boolean
}

const make = (sql: SqlClient.SqlClient) => {
  /**
   * Records pictures and returns the ids of those to fetch: new ones, refused ones, and those without progress for a
   * day. An entity must not list an address twice. One statement.
   */
  const expect = Effect.fn("ExternalPictureRepo.expect")(function*(pictures: ReadonlyArray<NamedPicture>) {
    if (pictures.length === 0) return []
    const organization = yield* currentOrganization
    const named = JSON.stringify(pictures.map((picture) => ({ id: newId(), ...picture })))
    const rows = yield* sql<{ readonly id: string }>`insert into external_pictures as p
        (id, organization_id, entity_id, url, position, alt)
      select x.id, ${organization}, x."entityId", x.url, x.position, x.alt
      from jsonb_to_recordset(${named}::jsonb) as x(id uuid, "entityId" uuid, url text, position int, alt text)
      on conflict (entity_id, md5(url)) do update
        set state = 'waiting', reason = null, position = excluded.position, alt = excluded.alt, updated_at = now()
        where p.organization_id = ${organization}
          and (p.state = 'refused' or p.state = 'waiting' and p.updated_at < now() - interval '1 day')
      returning p.id`
    return rows.map(({ id }) => id)
  }, Effect.orDie)

  const find = Effect.fn("ExternalPictureRepo.find")(function*(id: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<ExternalPicture>`select p.id, p.entity_id as "entityId", p.url, p.position, p.alt, e.slug,
        p.state = 'attached' as "isAttached"
      from external_pictures p join catalog_entities_read e on e.id = p.entity_id and e.organization_id = p.organization_id
      where p.id = ${id}::uuid and p.organization_id = ${organization}`
    return rows[0]
  }, Effect.orDie)

  /**
   * Runs `make`, which writes and attaches a medium and returns its id, in one transaction with the record that it is
   * done. Undefined if `make` creates none. `done`: it was attached before, or is gone, and nothing was created.
   */
  const attach = Effect.fn("ExternalPictureRepo.attach")(
    function*(id: string, make: (picture: OpenPicture) => Effect.Effect<string | undefined, never, CurrentActor>) {
      const organization = yield* currentOrganization
      // Lock the entity before the picture, in the same order as a deletion of the entity.
      yield* sql`select 1 from catalog_entities_read where organization_id = ${organization}
        and id = (select entity_id from external_pictures where id = ${id}::uuid and organization_id = ${organization})
        for key share`
      const [open] = yield* sql<OpenPicture>`select p.entity_id as "entityId", p.url, p.position, p.alt,
          exists (select 1 from entity_media l where l.entity_id = p.entity_id and l.variant_id is null
            and l.role = 'primary') as "hasPrimary"
        from external_pictures p where p.id = ${id}::uuid and p.organization_id = ${organization}
          and p.state <> 'attached' for no key update`
      if (open === undefined) return "done" as const
      const mediaAssetId = yield* make(open)
      if (mediaAssetId === undefined) return undefined
      yield* sql`update external_pictures set state = 'attached', reason = null, media_asset_id = ${mediaAssetId}::uuid,
          updated_at = now()
        where id = ${id}::uuid and organization_id = ${organization}`
      return "attached" as const
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Stores why the picture is not fetched; does nothing for an attached one. */
  const refuse = Effect.fn("ExternalPictureRepo.refuse")(function*(id: string, reason: string) {
    const organization = yield* currentOrganization
    yield* sql`update external_pictures set state = 'refused', reason = ${reason}, updated_at = now()
      where id = ${id}::uuid and organization_id = ${organization} and state <> 'attached'`
  }, Effect.orDie)

  return { expect, find, attach, refuse }
}

/** Addresses of pictures, each once for its entity. */
export class ExternalPictureRepo
  extends Context.Service<ExternalPictureRepo>()("stoa/domain/media/ExternalPictureRepo", {
    make: Effect.map(SqlClient.SqlClient, make)
  })
{
  static readonly layer = Layer.effect(ExternalPictureRepo, ExternalPictureRepo.make)
}
