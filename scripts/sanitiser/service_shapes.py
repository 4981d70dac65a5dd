"""How tokens of services look that tell by themselves whose they are, each in a line.

As public lists of them say. Rows of a kind, a line, and the parts of the token: letters, or
an alphabet and a length (scripts/sanitiser/planted.py).
"""

from typing import Final

SHAPES_OF_SERVICES: Final = """
gitlab-scim-token|Since Monday {} syncs the people.|glsoat- L20
gitlab-runner-token|Register it with {} once.|GR1348941 L20
slack-cookie|Cookie: d={}|xoxd- A80
slack-client-token|He copied {} from the browser.|xoxc- D12 - D12 - D12 - H64
slack-workflow|It posts to https://{}|hooks.slack.com/workflows/T U9 /A U9 / D18 / A24
stripe-live-key|Charged with {}|rk_prod_ A24
newrelic-insert-key|Events go in with {}|NRII- L32
newrelic-license-key|The agent has {}|H36 NRAL
fly-token|Deployed with {}|fm2_ A120
figma-oauth-token|It reads designs by {}|figo_ A40
bitbucket-token|Pushed by {}|ATCTT3xFfG L170
trello-token|Cards come by {}|ATTA H64 A8
databricks-secret|The job runs as {}|dose H32
brevo-smtp-key|Mail leaves with {}|xsmtpsib- H64 - A16
huggingface-organisation-token|We loaded it with {}|api_org_ A34
langsmith-old-key|Traced with {}|ls__ H32
adafruit-key|The sensor sends with {}|aio_ A28
adobe-secret|Signed in as {}|p8e- L32
anyscale-key|Asked with {}|esecret_ S28
apify-token|It scrapes with {}|apify_api_ A36
artifactory-key|Uploaded with {}|AKCp A69
artifactory-token|Uploaded with {} since|cmVmdGtuOjAx A52
authress-key|It checks with {}|sc_ S20 . S5 .acc- S20 . L60
bedrock-key|Models answer to {}|ABSK A100 ==
aws-session-token|It lasts an hour: {}|IQoJb3JpZ2luX2Vj A300
amazon-token|The shop knows {}|amzn.mws. G
azure-ai-key|Speech comes from {}|A52 JQQJ99 A26
azure-devops-token|It builds with {}|A76 AZDO A4
azure-cosmos-key|Opened with {}|A76 ACDb A6 ==
azure-function-key|Called with {}|A44 AzFu A6 ==
azure-search-key|Found with {}|A42 AzSe A6
azure-bus-key|Queued with {}|A33 +ASb A6 =
teams-webhook|Told https://{}|pump.webhook.office.com/webhookb2/ G @ G /IncomingWebhook/ H32 / G
teams-old-webhook|Told https://{}|outlook.office.com/webhook/ G @ G /IncomingWebhook/ H32 / G
zapier-webhook|It posts to https://{}|hooks.zapier.com/hooks/catch/ D7 / S7
ifttt-key|Rain calls https://maker.ifttt.com/trigger/rain/with/key/{}|L22
alchemy-key|The node is https://eth-mainnet.g.alchemy.com/v2/{}|L32
infura-key|The node is https://mainnet.infura.io/v3/{}|H32
calendar-address|Read https://calendar.google.com/calendar/ical/anna/private-{}/basic.ics|H32
braintree-token|Paid by {}|access_token$production$ S16 $ H32
browserbase-key|It clicks with {}|bb_live_ A27
buildkite-token|Builds by {}|bkua_ H40
cal-key|Booked by {}|cal_live_ H32
canva-secret|Drawn by {}|cnvca L50
cerebras-key|Quick answers by {}|csk- S48
circleci-token|Tests by {}|CCIPAT_ A22 _ H40
clickhouse-key|Counted by {}|4b1d A38
clickup-token|Tasks by {}|pk_ D8 _ U32
clojars-token|Jars by {}|CLOJARS_ H60
cloudflare-token|Names by {}|cfut_ A44
cloudflare-tunnel|cloudflared service install {}|eyJhIjoi A160
cockroach-key|Stored by {}|CCDB1_ A22 _ A40
contentful-token|Written by {}|CFPAT- L43
databento-key|Prices by {}|db- A29
datadog-token|Seen by {}|ddpat_ A40
dbt-token|Built by {}|dbtc_ L50
deepl-key|Translated by {}|G :fx
defined-key|Joined by {}|dnkey- L26 - L52
deno-token|Served by {}|ddp_ A36
duffel-token|Flown by {}|duffel_live_ L43
dynatrace-token|Watched by {}|dt0c01. U24 . U64
e2b-key|It runs code by {}|e2b_ H40
easypost-key|Sent by {}|EZAK A54
elastic-key|Looked for by {}|essu_ A40
elevenlabs-key|It speaks by {}|sk_ H48
endor-secret|Scanned by {}|endr+ A16
firebase-key|Pushed by {}|AAAA L7 :APA91b L134
firecrawl-key|Crawled by {}|fc- H32
flutterwave-key|Paid by {}|FLWSECK_TEST- H32 -X
frameio-token|Filmed by {}|fio-u- L64
google-refresh-token|It stays signed in by {}|1//0 L60
gcp-storage-key|Copied by {}|GOOG1E U55
gemini-key|Answered by {}|AQ.Ab8R L46
grafana-old-key|Drawn by {}|eyJrIjoi A90 ==
harness-key|Deployed by {}|pat. L22 . H24 . A20
helicone-key|Logged by {}|sk-helicone- S7 - S7 - S7 - S7
honeycomb-key|Sampled by {}|hcaik_01 S56
hubspot-token|Sold by {}|pat-na1- G
infisical-token|Kept by {}|st. H24 . H32 . H32
infracost-key|Estimated by {}|ico- A32
inngest-key|Queued by {}|signkey-prod- H64
intercom-token|Chatted by {}|dG9rOj A52 =
intra42-secret|Learned by {}|s-s4t2ud- H64
jina-key|Embedded by {}|jina_ H32 L28
jsr-token|Published by {}|jsrp_ A40
jumpcloud-key|Let in by {}|jca_ A36
klaviyo-key|Mailed by {}|pk_ H34
langfuse-key|Traced by {}|sk-lf- G
letta-key|Remembered by {}|sk-let- A60
linkedin-secret|Shared by {}|WPL_AP1. A16 . A6 ==
llamacloud-key|Parsed by {}|llx- A48
mailersend-token|Mailed by {}|mlsn. H64
mapbox-token|Drawn by {}|sk.eyJ1Ijoi A60 . L22
matrix-token|Chatted by {}|syt_ A12 _ A20 _ A6
maxmind-key|Located by {}|A6 _ A29 _mmk
mollie-key|Paid by {}|live_ A30
mongodb-secret|Managed by {}|mdb_sa_sk_ L40
n8n-key|Run by {}|n8n_api_ H80
neon-key|Branched by {}|napi_ S64
nuget-key|Packed by {}|oy2 S43
nylas-key|Mailed by {}|nyk_v0_ A48
octopus-key|Deployed by {}|API- U26
onepassword-secret-key|Unlocked by {}|A3- U6 - U6 - U5 - U5 - U5 - U5
onesignal-key|Pushed by {}|os_v2_app_ S90
openshift-token|Let in by {}|sha256~ L43
openvsx-token|Published by {}|ovsxp_ A40
paddle-key|Paid by {}|pdl_live_apikey_01 S26 _ A22 _ A3
plaid-token|Banked by {}|access-production- G
portainer-token|Started by {}|ptr_ A44
posthog-key|Counted by {}|phx_ A43
prefect-key|Run by {}|pnu_ A36
pulumi-token|Built by {}|pul- H40
ragie-key|Found by {}|tnt_ A12 _ A40
readme-key|Told by {}|rdme_ S70
render-key|Served by {}|rnd_ A28
retool-token|Clicked by {}|retool_01 S24
rootly-token|Woken by {}|rootly_ H64
runpod-key|Computed by {}|rpa_ U46
salesforce-token|Sold by {}|00D A12 ! A96
scalingo-token|Served by {}|tk-us- L48
segment-token|Counted by {}|sgp_ A64
settlemint-token|Chained by {}|sm_aat_ A16
shippo-token|Sent by {}|shippo_live_ H40
sonarqube-token|Checked by {}|sqp_ H40
surrealdb-token|Stored by {}|surreal-bearer- A12 - A24
tavily-key|Searched by {}|tvly-dev- A32
telnyx-key|Called by {}|KEY0 H30 _ A22
thunderstore-token|Modded by {}|tss_ A36
together-key|Answered by {}|tgp_v1_ L43
trigger-key|Run by {}|tr_prod_ A24
twitch-token|PASS {}|oauth: S30
typeform-token|Asked by {}|tfp_ L44 _ L14
unkey-key|Let in by {}|unkey_ A24
vercel-blob-token|Kept by {}|vercel_blob_rw_ A16 _ A30
wallet-key|Paid by {}|xprv9s21ZrQH143K A96
wandb-key|Trained by {}|wandb_v1_ L77
xata-key|Stored by {}|xau_ A36
yandex-key|Spoken by {}|AQVN L36
yandex-token|Let in by {}|t1. L40 . L86
zep-key|Remembered by {}|z_1dWlk A74 . L43
aiven-password|Opened by {}|AVNS_ A19
axiom-token|Logged by {}|xaat- G
context7-key|Read by {}|ctx7sk- G
depot-token|Built by {}|depot_org_ H64
discord-second-token|Let in by {}|mfa. L84
headscale-key|Joined by {}|hskey-auth- A12 - L64
healthchecks-key|Watched by {}|hcw_ A28
lark-webhook|It posts to https://open.feishu.cn/open-apis/bot/v2/hook/{}|G
logfire-token|Traced by {}|pylf_v1_us_ A43
mattermost-webhook|It posts to https://chat.example.org/hooks/{}|S26
netbird-token|Joined by {}|nbp_ A36
ntfy-token|Told by {}|tk_ S29
proxmox-token|It backs up as root@pam!pump={}|G
wecom-webhook|It posts to https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}|G
jwt-in-base64|  token.txt: {}|ZXlKaGJHY2lPaUpJVXpJMU5p A120
private-key-in-base64|    client-key-data: {}|LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ A400
kimi-key|Answered by {}|sk-kimi- A48
alibaba-key|Served by {}|LTAI A20
backblaze-key|Backed up by {}|K001 A27
brave-key|Searched by {}|BSA A27
composio-key|Joined by {}|ak_ L20
fireworks-key|Answered by {}|fw_ A24
gocardless-token|Paid by {}|live_ L40
home-assistant-hook|The door calls https://home.example.org/api/webhook/{}|L40
litellm-key|Answered by {}|sk- L22
mem0-key|Remembered by {}|m0- A40
modal-secret|Computed by {}|as- A22
nightfall-key|Scanned by {}|NF- A32
pagerduty-token|Woken by {}|u+ L18
pushbullet-token|Pushed by {}|o. A32
uptime-kuma-key|Watched by {}|uk1_ L40
vercel-token|Served by {}|vcp_ A56
voyage-key|Embedded by {}|pa- L43
airtable-base-token|Rows by {}|pat A14 . H64
asana-token|asana {}|2/ D16 / D16 : H32
discord-bot-token|The Discord bot says {}|M A25 . L6 . L38
facebook-token|facebook {}|D15 %7C A27
fal-key|On fal.ai {}|G : H32
launchdarkly-key|LaunchDarkly {}|sdk- G
mailgun-new-key|mailgun {}|H32 - H8 - H8
nextcloud-password|Nextcloud {}|A5 - A5 - A5 - A5 - A5
okta-token|Okta: {}|00 A40
square-token|Square {}|EAAA A60
truenas-key|TrueNAS {}|1- A64
twitter-token|twitter {}|D19 - A40
old-vault-token|vault {}|s. A24
webex-token|Webex {}|A64 _ A4 _ G
yandex-secret|Yandex {}|YC A38
zai-key|z.ai {}|H32 . A16
"""
