import { Result } from "effect"
import type { CatalogEntity } from "../../catalog/Entity.ts"
import { refused } from "../Upsert.ts"
import type { ProductState } from "./CatalogImportRepo.ts"

type Taxed = Partial<Pick<CatalogEntity, "taxClass" | "taxClassId">>

/** The class that a record names; a name of no class that it has already stays. */
export const planTaxClass = (
  path: string,
  sent: string | null | undefined,
  { taxClass, taxClassId }: Taxed,
  { taxClasses }: Pick<ProductState, "taxClasses">
): ReturnType<typeof refused> | Result.Result<Taxed> => {
  if (sent === undefined || (sent === taxClass && taxClassId !== null)) return Result.succeed({})
  if (sent === null) return Result.succeed({ taxClass: null, taxClassId: null })
  const found = taxClasses.get(sent)
  if (found === undefined && sent === taxClass) return Result.succeed({})
  if (found === undefined) {
    return refused(path, `'${sent}' is no tax class of this store. Create it first, or name another one.`, "not_found")
  }
  return Result.succeed(found.id === taxClassId ? {} : { taxClass: found.slug, taxClassId: found.id })
}
