"""Tokens that tell by themselves whose they are: a table of services, with what theirs begin with."""

# ruff: noqa: E501 - rows of a table

from typing import Final

from service.late_pattern import LatePattern
from service.sanitise.secret_rules import Rule

# Not inside of a word; but a line end of JSON and a percent-encoded character end in a letter, and
# markdown's _emphasis_ in an underscore.
_EMPHASIS: Final = r"(?<=(?<![A-Za-z0-9_])_)|(?<=(?<![A-Za-z0-9_])__)"
_BEGINS: Final = rf"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=\\u00[0-9A-Fa-f]{{2}})|(?<=%[0-9A-Fa-f]{{2}})|{_EMPHASIS})"
_ENDS: Final = r"(?![A-Za-z0-9])"


# As public lists of such tokens describe them. Lines of `kind words pattern`; words are separated by bars.
_TABLE: Final = r"""
    graph-memory-key gm_ gm_[A-Za-z0-9]{4,40}_[A-Za-z0-9_-]{40,60}
    aws-key AKIA|ASIA|ABIA|ACCA (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}
    gcp-key AIza AIza[A-Za-z0-9_-]{35}
    google-oauth-secret GOCSPX- GOCSPX-[A-Za-z0-9_-]{28}
    google-oauth-token ya29. ya29\.[A-Za-z0-9_-]{20,}
    azure-storage-key AccountKey= (?<=AccountKey=)[A-Za-z0-9+/]{86}==
    azure-client-secret 8Q~ [A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{34}
    github-token ghp_|gho_|ghu_|ghs_|ghr_ gh[pousr]_[A-Za-z0-9]{36,255}
    github-token github_pat_ github_pat_[A-Za-z0-9_]{60,255}
    gitlab-token glpat-|gldt-|glrt-|glrtr-|glptt-|glcbt- gl(?:pat|dt|rt|rtr|ptt|cbt)-[A-Za-z0-9_.-]{20,}
    gitlab-token glft-|glimt-|glsoat-|glffct-|glagent-|gloas- gl(?:ft|imt|soat|ffct|agent|oas)-[A-Za-z0-9_-]{20,}
    gitlab-token GR1348941 GR1348941[A-Za-z0-9_-]{20}
    slack-token xox|xapp- xox[a-eoprs]-[A-Za-z0-9%/+=-]{20,}|xapp-[0-9]-[A-Za-z0-9-]{20,}
    slack-webhook hooks.slack.com hooks\.slack\.com/(?:services|workflows|triggers)/T[A-Z0-9]+/[A-Z0-9]+/(?:[0-9]+/)?[A-Za-z0-9]{20,}
    discord-webhook api/webhooks/ discord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{40,}
    telegram-token :AA (?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{33}
    stripe-key k_live_|k_test_|k_prod_|k_org_ [sr]k_(?:org_)?(?:live|test|prod)_[A-Za-z0-9]{16,255}
    webhook-secret whsec_ whsec_[A-Za-z0-9+/=]{24,}
    anthropic-key sk-ant- sk-ant-[A-Za-z0-9_-]{32,}
    openrouter-key sk-or- sk-or-(?:v1-)?[A-Za-z0-9]{32,}
    openai-key sk- sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{32,})
    huggingface-token hf_|api_org_ (?:hf|api_org)_[A-Za-z0-9]{30,}
    replicate-token r8_ r8_[A-Za-z0-9]{36,}
    groq-key gsk_ gsk_[A-Za-z0-9]{40,}
    perplexity-key pplx- pplx-[A-Za-z0-9]{40,}
    xai-key xai- xai-[A-Za-z0-9]{60,}
    nvidia-key nvapi- nvapi-[A-Za-z0-9_-]{60,}
    langsmith-key lsv2_|ls__ lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|ls__[a-f0-9]{32}
    pinecone-key pcsk_ pcsk_[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,}
    npm-token npm_ npm_[A-Za-z0-9]{36}
    pypi-token pypi-AgE pypi-AgE[A-Za-z0-9_-]{50,}
    rubygems-key rubygems_ rubygems_[a-f0-9]{48}
    docker-token dckr_ dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}
    sendgrid-key SG. SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}
    mailgun-key key- key-[a-f0-9]{32}
    mailchimp-key -us [a-f0-9]{32}-us[0-9]{1,2}
    twilio-key SK SK[a-f0-9]{32}
    brevo-key xkeysib-|xsmtpsib- x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}
    resend-key re_ re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}
    digitalocean-token _v1_ do[opr]_v1_[a-f0-9]{64}
    heroku-key HRKU- HRKU-[A-Za-z0-9_-]{36,}
    fly-token fo1_|fm1|fm2_ fo1_[A-Za-z0-9_-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/=]{60,}
    netlify-token nfp_ nfp_[A-Za-z0-9]{36,}
    terraform-token .atlasv1. [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}
    vault-token hvs.|hvb.|hvr. hv[sbr]\.[A-Za-z0-9_-]{24,}
    databricks-token dapi|dose (?:dapi|dose)[a-f0-9]{32}(?:-[0-9])?
    planetscale-token pscale_ pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}
    supabase-key sbp_|sb_secret_ sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{22,}
    grafana-token glc_|glsa_ glc_[A-Za-z0-9+/=]{32,}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}
    newrelic-key NRAK-|NRII- NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}
    newrelic-key NRAL [a-f0-9]{36}NRAL
    sentry-token sntry sntry[su]_[A-Za-z0-9+/=_-]{40,}
    linear-key lin_ lin_(?:api|oauth)_[A-Za-z0-9]{32,}
    notion-token ntn_|secret_ ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}
    figma-token figd_|figo_ fig[do]_[A-Za-z0-9_-]{36,}
    atlassian-token ATATT3|ATCTT3|ATSTT3|ATBB AT[ACS]TT3[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9]{24,}
    trello-token ATTA ATTA[a-f0-9]{64}[A-Za-z0-9]{8}
    dropbox-token sl. sl\.(?:u\.)?[A-Za-z0-9_-]{100,}
    doppler-token dp. dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}
    shopify-token shp shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
    square-token sq0 sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}
    facebook-token EAA EAA[A-Za-z0-9]{80,}
    twitter-token AAAAAAAAAAAAAAAA A{16,24}[A-Za-z0-9%]{60,}
    age-key AGE-SECRET-KEY- AGE-SECRET-KEY-1[A-Z0-9]{58}
    postman-key PMAK- PMAK-[a-f0-9]{24}-[a-f0-9]{34}
    tailscale-key tskey- tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}
    sourcegraph-token sgp_ sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}
    onepassword-token ops_ey ops_eyJ[A-Za-z0-9_-]{100,}
    cloudflare-key v1.0- v1\.0-[a-f0-9]{24}-[a-f0-9]{146}
    adafruit-key aio_ aio_[A-Za-z0-9]{28}
    adobe-secret p8e- p8e-[A-Za-z0-9_-]{32}
    airtable-token pat pat[A-Za-z0-9]{14}\.[a-f0-9]{64}
    anyscale-key esecret_ esecret_[a-z0-9]{24,}
    apify-token apify_api_ apify_api_[A-Za-z0-9]{36,}
    artifactory-key AKCp|cmVmdGtu AKCp[A-Za-z0-9]{69}|cmVmdGtuOj[A-Za-z0-9]{54}
    authress-key .acc-|.acc_ (?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}
    bedrock-key ABSK|bedrock-api-key- ABSK[A-Za-z0-9+/]{80,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{60,}
    aws-session-token IQoJb3JpZ2lu IQoJb3JpZ2lu[A-Za-z0-9+/=]{100,}
    amazon-token amzn.mws.|amzn1.oa2 amzn\.mws\.{UUID}|amzn1\.oa2-cs\.v1\.[a-f0-9]{64}
    azure-key JQQJ99 [A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,30}
    azure-key AZDO [A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}
    azure-key ACDb|+ASt|+ABa (?<![+/])[A-Za-z0-9+/]{76}(?:ACDb|\+ASt|\+ABa)[A-Za-z0-9+/]{6}==
    azure-key AzFu (?<![+/])[A-Za-z0-9_/+-]{44}AzFu[A-Za-z0-9_/+-]{6}==
    azure-key AzSe|+ACR (?<![+/])[A-Za-z0-9+/]{42}(?:AzSe|\+ACR)[A-Za-z0-9+/]{6}(?![+/=])
    azure-key +ASb|+AEh|AIoT (?<![+/])[A-Za-z0-9+/]{33}(?:\+ASb|\+AEh|AIoT)[A-Za-z0-9+/]{6}=
    teams-webhook IncomingWebhook (?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/{UUID}@{UUID}/IncomingWebhook/[a-f0-9]{32}/[A-Za-z0-9_/-]{36,}
    zapier-webhook hooks.zapier.com hooks\.zapier\.com/hooks/catch/[0-9]{3,12}/[a-z0-9]{5,12}
    ifttt-key ifttt.com (?<=/with/key/)[A-Za-z0-9_-]{20,}
    alchemy-key .alchemy.com (?<=\.alchemy\.com/v2/)[A-Za-z0-9_-]{32}
    infura-key infura.io (?<=infura\.io/v3/)[a-f0-9]{32}
    calendar-address /basic.ics (?<=/private-)[a-f0-9]{32}(?=/basic\.ics)
    braintree-token access_token$ access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}
    browserbase-key bb_live_|bb_test_ bb_(?:live|test)_[A-Za-z0-9_-]{27,}
    buildkite-token bkua_|bkct_|bkaj_ bk(?:ua|ct|aj)_[A-Za-z0-9]{38,}
    cal-key cal_live_ cal_live_[a-f0-9]{32}
    canva-secret cnvca cnvca[A-Za-z0-9_-]{40,}
    cerebras-key csk- csk-[a-z0-9]{48}
    circleci-token CCIPAT_|CCIPRJ_ CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}
    clickhouse-key 4b1d 4b1d[A-Za-z0-9]{38}
    clickup-token pk_ pk_[0-9]{5,12}_[A-Z0-9]{32}
    clojars-token CLOJARS_ CLOJARS_[a-f0-9]{60}
    cloudflare-key cfut_|cfat_|cfk_ cf(?:ut|at|k)_[A-Za-z0-9_-]{40,}
    cloudflare-tunnel eyJhIjoi eyJhIjoi[A-Za-z0-9+/]{80,}={0,2}
    cockroach-key CCDB1_ CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}
    contentful-token CFPAT- CFPAT-[A-Za-z0-9_-]{43}
    databento-key db- db-[A-Za-z0-9]{29}
    datadog-token ddpat_|ddsat_ dd[ps]at_[A-Za-z0-9_-]{30,}
    dbt-token dbtc_|dbtu_ dbt[cu]_[A-Za-z0-9_-]{40,}
    deepl-key :fx {UUID}:fx
    defined-key dnkey- dnkey-[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{52}
    deno-token ddp_|ddo_ dd[po]_[A-Za-z0-9]{36}
    duffel-token duffel_ duffel_(?:test|live)_[A-Za-z0-9_=-]{43}
    dynatrace-token dt0 dt0[a-z][0-9]{2}\.[A-Za-z0-9-]{8,24}\.[A-Z0-9]{64}
    e2b-key e2b_ e2b_[a-f0-9]{40}
    easypost-key EZAK|EZTK EZ[AT]K[A-Za-z0-9]{54}
    elastic-key essu_ essu_[A-Za-z0-9+/]{40,}={0,2}
    elevenlabs-key sk_ sk_[a-f0-9]{48}
    endor-secret endr+ endr\+[A-Za-z0-9-]{16}
    firebase-key :APA91b AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}
    firecrawl-key fc- fc-[a-f0-9]{32}
    flutterwave-key FLWSECK FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,32}(?:-X)?
    frameio-token fio-u- fio-u-[A-Za-z0-9_=-]{64}
    google-refresh-token 1//0 1//0[A-Za-z0-9_-]{40,}
    gcp-storage-key GOOG1E GOOG1E[A-Z0-9]{55}
    gemini-key AQ.Ab8 AQ\.Ab8[A-Za-z0-9_-]{40,}
    grafana-token eyJrIjoi eyJrIjoi[A-Za-z0-9+/]{60,}={0,2}
    harness-key pat.|sat. [ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
    helicone-key helicone- sk-helicone-[a-z0-9]{7}(?:-[a-z0-9]{7}){3}
    honeycomb-key hca hca[a-z]{2}_[a-z0-9]{58}
    hubspot-token pat- pat-[a-z]{2,3}[0-9]-{UUID}
    infisical-token st. st\.[a-f0-9-]{24,36}\.[a-f0-9]{32}\.[a-f0-9]{32}
    infracost-key ico- ico-[A-Za-z0-9]{32}
    inngest-key signkey- signkey-(?:prod|test|branch)-[a-f0-9]{32,}
    intercom-token dG9rOj dG9rOj[A-Za-z0-9+/]{40,}={0,2}
    intra42-secret s-s4t2 s-s4t2(?:ud|af)-[a-f0-9]{64}
    jina-key jina_ jina_[a-f0-9]{32}[A-Za-z0-9_-]{20,}
    jsr-token jsrp_|jsrd_ jsr[pd]_[A-Za-z0-9]{30,}
    jumpcloud-key jca_ jca_[A-Za-z0-9]{36}
    klaviyo-key pk_ pk_[a-f0-9]{34}
    langfuse-key -lf- sk-lf-{UUID}
    letta-key sk-let- sk-let-[A-Za-z0-9+/=]{40,}
    linkedin-secret WPL_AP1. WPL_AP1\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/]{6}==
    llamacloud-key llx- llx-[A-Za-z0-9]{48}
    mailersend-token mlsn. mlsn\.[a-f0-9]{64}
    mapbox-token sk.eyJ|tk.eyJ [st]k\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}
    matrix-token syt_ syt_[A-Za-z0-9+/=]{2,}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}
    maxmind-key _mmk [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk
    mollie-key live_ live_[A-Za-z0-9]{30,}
    mongodb-secret mdb_sa_sk_ mdb_sa_sk_[A-Za-z0-9_-]{40}
    n8n-key n8n_api_ n8n_api_[a-f0-9]{40,}
    neon-key napi_ napi_[a-z0-9]{64}
    nuget-key oy2 oy2[a-z0-9]{43}
    nylas-key nyk_v nyk_v[0-9]_[A-Za-z0-9]{40,}
    octopus-key API- API-[A-Z0-9]{26,}
    onepassword-key A3- A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}
    onesignal-key os_v2_ os_v2_(?:app|org)_[a-z0-9]{80,}
    openshift-token sha256~ sha256~[A-Za-z0-9_-]{43}
    openvsx-token ovsx ovsx(?:p|at)_[A-Za-z0-9-]{30,}
    paddle-key pdl_ pdl_(?:live|sdbx)_apikey_[a-z0-9]{26,}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}
    plaid-token access- access-(?:sandbox|development|production)-{UUID}
    portainer-token ptr_ ptr_[A-Za-z0-9+/]{40,}={0,2}
    posthog-key phx_|phs_ ph[xs]_[A-Za-z0-9]{40,}
    prefect-key pnu_|pnb_ pn[ub]_[A-Za-z0-9]{36}
    pulumi-token pul- pul-[a-f0-9]{40}
    ragie-key tnt_ tnt_[A-Za-z0-9]{8,}_[A-Za-z0-9]{32,}
    readme-key rdme_ rdme_[a-z0-9]{60,}
    render-key rnd_ rnd_[A-Za-z0-9]{28,}
    retool-token retool_01 retool_01[a-z0-9]{24}
    rootly-token rootly_ rootly_[a-f0-9]{64}
    runpod-key rpa_ rpa_[A-Z0-9]{40,}
    salesforce-token 00D 00D[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{80,}
    scalingo-token tk-us- tk-us-[A-Za-z0-9_-]{48}
    segment-token sgp_ sgp_[A-Za-z0-9]{64}
    settlemint-token sm_ sm_[aps]at_[A-Za-z0-9]{16}
    shippo-token shippo_ shippo_(?:live|test)_[a-f0-9]{40}
    sonarqube-token sqp_|squ_|sqa_ sq[pua]_[a-f0-9]{40}
    surrealdb-token surreal- surreal-(?:bearer|refresh)-[A-Za-z0-9]{12}-[A-Za-z0-9]{24}
    tavily-key tvly- tvly-(?:(?:dev|prod)-)?[A-Za-z0-9-]{32,}
    telnyx-key KEY0 KEY0[A-F0-9a-f]{30}_[A-Za-z0-9]{22}
    thunderstore-token tss_ tss_[A-Za-z0-9]{36}
    together-key tgp_v1_ tgp_v1_[A-Za-z0-9_-]{43}
    trigger-key tr_ tr_(?:dev|stg|prod)_[A-Za-z0-9]{20,}
    twitch-token oauth: oauth:[a-z0-9]{30}
    typeform-token tfp_ tfp_[A-Za-z0-9_.=-]{40,}
    unkey-key unkey_ unkey_[A-Za-z0-9]{20,}
    vercel-token vercel_blob_rw_ vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30}
    wallet-key prv [xyz]prv[A-Za-z0-9]{100,112}
    wandb-key wandb_v1_ wandb_v1_[A-Za-z0-9_-]{60,}
    xata-key xau_ xau_[A-Za-z0-9]{36,}
    yandex-key AQVN AQVN[A-Za-z0-9_-]{35,38}
    yandex-token t1. t1\.[A-Za-z0-9_-]{20,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}
    zep-key z_1dWlk z_1dWlk[A-Za-z0-9]{30,}\.[A-Za-z0-9_-]{40,}
    aiven-password AVNS_ AVNS_[A-Za-z0-9_-]{15,}
    axiom-token xaat-|xapt- xa[ap]t-{UUID}
    context7-key ctx7sk- ctx7sk-{UUID}
    depot-token depot_ depot_[a-z]{3,10}_[a-f0-9]{40,}
    discord-token mfa. mfa\.[A-Za-z0-9_-]{80,}
    headscale-key hskey- hskey-[a-z]{3,6}-[A-Za-z0-9_-]{12}-[A-Za-z0-9_-]{64}
    healthchecks-key hcw_|hcr_ hc[wr]_[A-Za-z0-9]{28}
    lark-webhook /bot/v2/hook/ (?<=/bot/v2/hook/){UUID}
    logfire-token pylf_v pylf_v[0-9]_[a-z]{2,8}_[A-Za-z0-9]{40,}
    mattermost-webhook /hooks/ (?<=/hooks/)(?=[a-z]{0,25}[0-9])[a-z0-9]{26}
    netbird-token nbp_ nbp_[A-Za-z0-9]{36}
    ntfy-token tk_ tk_[a-z0-9]{29}
    proxmox-token @pam!|@pve! [A-Za-z0-9_.-]{1,40}@(?:pam|pve)![A-Za-z0-9_.-]{1,60}=(?P<secret>{UUID})
    wecom-webhook /webhook/send (?<=/webhook/send\?key=){UUID}
    jwt ZXlK ZXlK[A-Za-z0-9+/]{60,}={0,2}
    private-key LS0tLS1CRUdJTiB LS0tLS1CRUdJTiB(?:QUklW|SU0EgUFJJ|FQyBQUklW|EU0EgUFJJ|PUEVOU1NIIFBSSV|FTkNSWVBURUQgUFJJ)[A-Za-z0-9+/]{60,}={0,2}
"""
# Beginnings so short that other words have them too: what stands behind them must be mixed.
_SHORT: Final = r"""
    api-key sk- sk-(?:[a-z0-9]{2,12}-){1,2}[A-Za-z0-9_-]{30,}
    alibaba-key LTAI LTAI[A-Za-z0-9]{12,24}
    backblaze-key K00 K00[0-9][A-Za-z0-9+/]{27}
    brave-key BSA BSA[A-Za-z0-9_-]{27,28}
    composio-key ak_|ck_ [ac]k_[A-Za-z0-9_-]{20}
    fireworks-key fw_ fw_[A-Za-z0-9]{22,24}
    gocardless-token live_ live_[A-Za-z0-9_-]{40}
    home-assistant-hook /api/webhook/ (?<=/api/webhook/)[A-Za-z0-9_-]{22,64}
    litellm-key sk- sk-[A-Za-z0-9_-]{22}
    mem0-key m0- m0-[A-Za-z0-9]{40}
    modal-token ak-|as- a[ks]-[A-Za-z0-9]{22}
    nightfall-key NF- NF-[A-Za-z0-9]{32}
    pagerduty-token u+ u\+[A-Za-z0-9_+-]{18}
    pushbullet-token o. o\.[A-Za-z0-9]{32}
    uptime-kuma-key uk uk[0-9]{1,4}_[A-Za-z0-9_-]{40}
    vercel-token vcp_|vci_|vca_|vcr_|vck_ vc[piark]_[A-Za-z0-9_-]{50,}
    voyage-key pa- pa-[A-Za-z0-9_-]{43}
"""
# Without a beginning of its own: known where the service's name stands in the text.
_BESIDE: Final = r"""
    asana-token asana|Asana|ASANA [12](?:/[0-9]{10,20}){1,2}:[a-f0-9]{32}
    crates-token crates|cargo cio[A-Za-z0-9]{32}
    discord-token discord|Discord|DISCORD [MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}
    facebook-token facebook|Facebook|FACEBOOK|FB_|fb_ [0-9]{15,16}(?:\||%7C)[A-Za-z0-9_-]{27,40}
    fal-key fal.ai|fal_key|FAL_KEY|fal_|FAL_ {UUID}:[a-f0-9]{32}
    fly-token FlyV1 FlyV1[ ][A-Za-z0-9+/=_,]{60,}
    launchdarkly-key launchdarkly|LaunchDarkly|LAUNCHDARKLY|LD_ (?:sdk|api|rel)-{UUID}
    mailgun-key mailgun|Mailgun|MAILGUN [a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}
    nextcloud-password nextcloud|Nextcloud|NEXTCLOUD (?=[a-z0-9-]{0,28}[A-Z])[A-Za-z0-9]{5}(?:-[A-Za-z0-9]{5}){4}
    okta-token okta|Okta|OKTA|SSWS 00[A-Za-z0-9_-]{40}
    square-token square|Square|SQUARE EAAA[A-Za-z0-9_-]{60}
    truenas-key truenas|TrueNAS|TRUENAS [0-9]{1,4}-[A-Za-z0-9]{64}
    twitter-token twitter|Twitter|TWITTER|oauth_token [0-9]{15,20}-[A-Za-z0-9]{40}
    vault-token vault|Vault|VAULT s\.(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{24}
    webex-token webex|Webex|WEBEX [A-Za-z0-9_-]{64}_[A-Za-z0-9_-]{4}_{UUID}
    yandex-key yandex|Yandex|YANDEX|YC_ YC[A-Za-z0-9_-]{38}
    zai-key zhipu|Zhipu|ZHIPU|bigmodel|z.ai|ZAI_ [a-f0-9]{32}\.[A-Za-z0-9]{16}
"""
_UUID: Final = "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"


def _rules(table: str, proof: str) -> tuple[Rule, ...]:
    rows = (line.split(maxsplit=2) for line in table.strip().splitlines())
    return tuple(
        Rule(
            kind,
            tuple(words.split("|")),
            LatePattern(f"{_BEGINS}(?:{pattern.replace('{UUID}', _UUID)}){_ENDS}"),
            proof,
        )
        for kind, words, pattern in rows
    )


# Of these no token is shorter, and there are no blanks in one.
LEAST_TOKEN: Final = 20
TOKENS: Final = (*_rules(_TABLE, "prefix"), *_rules(_SHORT, "mixed"))
TOKENS_BESIDE_NAMES: Final = _rules(_BESIDE, "prefix")
