import { HttpApi, OpenApi } from "effect/http-api"
import { OrganizationKeysGroup } from "./access/ApiKeysApi.ts"
import { PermissionsGroup } from "./access/PermissionsApi.ts"
import { AuditGroup } from "./audit/AuditApi.ts"
import { AccountsGroup } from "./auth/AccountsApi.ts"
import { ApiKeysGroup } from "./auth/ApiKeysApi.ts"
import { OrganizationsGroup } from "./auth/OrganizationsApi.ts"
import { SessionsGroup } from "./auth/SessionsApi.ts"
import { TwoFactorGroup } from "./auth/TwoFactorApi.ts"
import { CartsGroup } from "./carts/CartsApi.ts"
import { BrandsGroup } from "./catalog/BrandsApi.ts"
import { CatalogGroup } from "./catalog/CatalogApi.ts"
import { CategoriesGroup } from "./catalog/CategoriesApi.ts"
import { VariantsGroup } from "./catalog/VariantsApi.ts"
import { CheckoutGroup } from "./checkout/CheckoutApi.ts"
import { EventsGroup } from "./events/EventsApi.ts"
import { HealthGroup } from "./health/HealthApi.ts"
import { MetricsGroup } from "./health/MetricsApi.ts"
import { InventoryGroup } from "./inventory/InventoryApi.ts"
import { JobsGroup } from "./jobs/JobsApi.ts"
import { OrdersGroup } from "./orders/OrdersApi.ts"
import { PaymentsGroup } from "./payments/PaymentsApi.ts"
import { PricingGroup } from "./pricing/PricingApi.ts"
import { PromotionsGroup } from "./promotions/PromotionsApi.ts"
import { StaffGroup } from "./staff/StaffApi.ts"
import { WebhooksGroup } from "./webhooks/WebhooksApi.ts"

/**
 * The root of the API: it only adds groups. Prefix, middleware and access sit on each group, because whatever is put on
 * the root is lost for handlers that were built against one group alone.
 */
export const Api = HttpApi.make("stoa")
  .add(HealthGroup)
  .add(MetricsGroup)
  .add(CatalogGroup)
  .add(CategoriesGroup)
  .add(BrandsGroup)
  .add(VariantsGroup)
  .add(PricingGroup)
  .add(PromotionsGroup)
  .add(InventoryGroup)
  .add(CartsGroup)
  .add(CheckoutGroup)
  .add(OrdersGroup)
  .add(PaymentsGroup)
  .add(WebhooksGroup)
  .add(JobsGroup)
  .add(EventsGroup)
  .add(AuditGroup)
  .add(StaffGroup)
  .add(OrganizationKeysGroup)
  .add(PermissionsGroup)
  .add(SessionsGroup)
  .add(AccountsGroup)
  .add(TwoFactorGroup)
  .add(OrganizationsGroup)
  .add(ApiKeysGroup)
  .annotateMerge(OpenApi.annotations({ title: "Stoa", description: "A headless commerce backend." }))

/** What a process that runs actors answers: nothing but what its operator asks. */
export const OperatorApi = HttpApi.make("stoa").add(HealthGroup).add(MetricsGroup)
