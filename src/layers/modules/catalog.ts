import { Layer } from "effect"
import { AttributesRepo } from "../../domain/catalog/AttributesRepo.ts"
import { BrandRepo } from "../../domain/catalog/BrandRepo.ts"
import { Brands } from "../../domain/catalog/Brands.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { CatalogBatches } from "../../domain/catalog/CatalogBatches.ts"
import { CatalogBatchRepo } from "../../domain/catalog/CatalogBatchRepo.ts"
import { CatalogExport } from "../../domain/catalog/CatalogExport.ts"
import { CatalogPageRepo } from "../../domain/catalog/CatalogPageRepo.ts"
import { CatalogReads } from "../../domain/catalog/CatalogReads.ts"
import { CatalogStateRepo } from "../../domain/catalog/CatalogStateRepo.ts"
import { Categories } from "../../domain/catalog/Categories.ts"
import { CategoryRepo } from "../../domain/catalog/CategoryRepo.ts"
import { EntityLinkRepo } from "../../domain/catalog/EntityLinkRepo.ts"
import { EntityListRepo } from "../../domain/catalog/EntityListRepo.ts"
import { EntityRepo } from "../../domain/catalog/EntityRepo.ts"
import { migrations } from "../../domain/catalog/migrations.ts"
import { OptionRepo } from "../../domain/catalog/OptionRepo.ts"
import { SellableRepo } from "../../domain/catalog/SellableRepo.ts"
import { Sellables } from "../../domain/catalog/Sellables.ts"
import { VariantRepo } from "../../domain/catalog/VariantRepo.ts"
import { Variants } from "../../domain/catalog/Variants.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { brandsHttp } from "../../http/catalog/BrandsHttp.ts"
import { catalogHttp } from "../../http/catalog/CatalogHttp.ts"
import { categoriesHttp } from "../../http/catalog/CategoriesHttp.ts"
import { variantsHttp } from "../../http/catalog/VariantsHttp.ts"
import { ofRoutes, seeing } from "../Sight.ts"

const repositories = Layer.mergeAll(
  EntityRepo.layer,
  EntityListRepo.layer,
  AttributesRepo.layer,
  CategoryRepo.layer,
  BrandRepo.layer,
  EntityLinkRepo.layer,
  OptionRepo.layer,
  VariantRepo.layer,
  CatalogStateRepo.layer,
  CatalogBatchRepo.layer,
  CatalogPageRepo.layer,
  SellableRepo.layer
)

/** What a store offers: entities with their words, categories, brands, options and variants. */
export const catalog = defineModule({
  id: "catalog",
  version: "1.0.0",
  requires: ["tenancy"],
  permissions: [
    { scope: "catalog:read", description: "See what the store offers." },
    { scope: "catalog:read:unpublished", description: "See drafts, archived and hidden entities too." },
    { scope: "catalog:create", description: "Create entities." },
    { scope: "catalog:update", description: "Change and publish entities, categories, brands, options, variants." },
    { scope: "catalog:delete", description: "Delete entities." }
  ],
  migrations,
  services: Layer.mergeAll(
    Catalog.layer,
    CatalogReads.layer,
    Categories.layer,
    Brands.layer,
    Variants.layer,
    CatalogBatches.layer,
    CatalogExport.layer,
    Sellables.layer
  ).pipe(Layer.provideMerge(repositories)),
  routes: Layer.mergeAll(catalogHttp, categoriesHttp, brandsHttp, variantsHttp).pipe(
    seeing(Catalog, CatalogReads, Categories, Brands, Variants, ...ofRoutes)
  )
})
