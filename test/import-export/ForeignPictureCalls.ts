import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin } from "../support/TestApp.ts"

/** A line of a product's pictures: address, and what it shows. */
export type Line = readonly [src: string, alt?: string]

/** A product of Shopify's export with these pictures. */
export const shopifyFile = (slug: string, ...pictures: ReadonlyArray<Line>): string =>
  [
    "Handle,Title,Published,Option1 Name,Option1 Value,Variant Price,Image Src,Image Alt Text,Status",
    ...pictures.map(([src, alt = ""], index) =>
      index === 0
        ? `${slug},A ${slug},true,Title,Default Title,5,${src},${alt},active`
        : `${slug},,,,,,${src},${alt},`
    )
  ].join("\n")

/** What a product shows: role, place, and what is said of it. */
export const shownBy = (slug: string) =>
  Effect.map(
    api("GET", `/api/catalog/entities/${slug}?include=media`, { as: asAdmin }),
    (answer) =>
      answer.list("data.media").map((_, index) => [
        answer.at(`data.media.${index}.role`),
        answer.at(`data.media.${index}.sortOrder`),
        answer.at(`data.media.${index}.alt`)
      ])
  )

/** How many jobs of pictures have which state. */
export const jobs = onDatabase((sql) =>
  Effect.map(
    sql<{ status: string; n: number }>`select status, count(*)::int4 as n from commerce_jobs
      where task_slug = 'media/fetch-picture' group by status`,
    (rows) => Object.fromEntries(rows.map(({ n, status }) => [status, n]))
  )
)

/** Waits until no job of a picture is open; one that waits for its next try is. */
export const atRest = eventually(
  "the jobs of pictures to end",
  Effect.map(jobs, ({ pending = 0, processing = 0 }) => pending + processing === 0)
)

/** Why jobs of pictures failed, as an operator reads it. */
export const failures = Effect.map(
  api("GET", "/api/admin/jobs/failed?limit=100", { as: asAdmin }),
  (answer) => answer.list("data").map((_, index) => answer.text(`data.${index}.error`)).toSorted()
)

/** Pictures by their state, and what media there are. */
export const kept = onDatabase((sql) =>
  Effect.map(
    sql<{ waiting: number; attached: number; refused: number; assets: number; links: number }>`select
      (count(*) filter (where state = 'waiting'))::int4 as waiting,
      (count(*) filter (where state = 'attached'))::int4 as attached,
      (count(*) filter (where state = 'refused'))::int4 as refused,
      (select count(*)::int4 from media_assets) as assets, (select count(*)::int4 from entity_media) as links
      from external_pictures`,
    ([row]) => row
  )
)
