import type { Issue } from "../platform/errors/ApiErrors.ts"

const shown = 5

/** "a, b and 3 more". */
export const listed = (names: ReadonlyArray<string>): string => {
  const more = names.length - shown
  const named = more > 0 ? [...names.slice(0, shown), `${more} more`] : names
  return named.join(", ").replace(/, ([^,]*)$/, " and $1")
}

/** "'shirt' (2 variants) and 'hat'". */
const countedSlugs = (slugs: ReadonlyArray<string>): string =>
  listed(
    [...Map.groupBy(slugs, (slug) => slug)].map(([slug, { length }]) =>
      length === 1 ? `'${slug}'` : `'${slug}' (${length} variants)`
    )
  )

/** Warns that other variants, by the slugs of their entities, have a SKU too. */
export const sharedSku = (path: string, sku: string | null, slugs: ReadonlyArray<string>): Issue => ({
  path,
  message: `The SKU '${sku}' is also that of ${countedSlugs(slugs)}.`,
  code: "shared_sku"
})
