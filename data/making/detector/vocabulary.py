"""The words of interfaces in several scripts, and names of persons: each text is words with spaces between."""

INTERFACES = {
    "en": """
        Home Dashboard Settings Profile Projects Team Calendar Documents Reports Messages Inbox Sent Drafts
        Archive Trash Files Folders Recent Shared Favourites Search Filter Sort Export Import Download Upload
        Save Cancel Delete Edit Copy Paste Undo Redo Print Preview Publish Share Invite Members Roles
        Permissions Billing Invoices Payments Orders Customers Products Inventory Analytics Overview Activity
        Notifications Security Privacy Account Password Email Phone Address Country Language Theme Appearance
        Integrations Webhooks API Keys Logs Events Alerts Incidents Deployments Servers Databases Storage
        Network Domains Usage Limits Plans Upgrade Support Help Feedback About Terms Version Status Active
        Pending Failed Done New Open Closed Draft Review Approved Rejected Assigned Due Today Yesterday Tomorrow
        Week Month Year Total Average Revenue Growth Conversion Sessions Visitors Bounce Rate Sales Subscription
        Trial Monthly Annual Free Pro Enterprise Start Continue Back Next Finish Submit Confirm Apply Reset
        Clear Select All None More Less Show Hide View Details Add Create Remove Update Move Rename Duplicate
        Link Embed Comment Reply Forward Mark Read Unread Star Pin Mute Block Report Follow Like Subscribe Play
        Pause Stop Volume Playlist Album Artist Track Library Queue Map Route Traffic Nearby Restaurants Hotels
        Parking
    """,
    "de": """
        Startseite Übersicht Einstellungen Benutzer Projekte Nachrichten Kalender Dokumente Berichte Suche
        Filter Speichern Abbrechen Löschen Bearbeiten Hinzufügen Entfernen Kopieren Einfügen Drucken Vorschau
        Freigeben Einladen Mitglieder Rechnungen Zahlungen Bestellungen Kunden Produkte Lager Auswertung
        Aktivität Sicherheit Datenschutz Konto Passwort Sprache Hilfe Größe Schließen Öffnen Weiter Zurück
        Fertig Bestätigen Heute Gestern Morgen Woche Monat Jahr Gesamt Umsatz Änderungen
    """,
    "fr": """
        Accueil Tableau Paramètres Profil Projets Équipe Calendrier Documents Rapports Messages Rechercher
        Filtrer Trier Enregistrer Annuler Supprimer Modifier Ajouter Copier Coller Imprimer Aperçu Publier
        Partager Inviter Membres Factures Paiements Commandes Clients Produits Stock Activité Sécurité
        Confidentialité Compte Langue Aide Fermer Ouvrir Suivant Précédent Terminé Confirmer Aujourd'hui Hier
        Demain Semaine Mois Année Total Revenu
    """,
    "es": """
        Inicio Panel Configuración Perfil Proyectos Equipo Calendario Documentos Informes Mensajes Buscar
        Guardar Cancelar Eliminar Editar Añadir Copiar Imprimir Compartir Miembros Facturas Pagos Pedidos
        Clientes Productos Cuenta Contraseña Idioma Ayuda Cerrar Abrir Siguiente Atrás Hoy Ayer Mañana Semana
        Mes Año Última sesión
    """,
    "ru": """
        Главная Панель Настройки Профиль Проекты Команда Календарь Документы Отчёты Сообщения Поиск Фильтр
        Сохранить Отменить Удалить Изменить Добавить Копировать Печать Поделиться Участники Счета Платежи Заказы
        Клиенты Товары Склад Безопасность Аккаунт Пароль Язык Помощь Закрыть Открыть Далее Назад Готово Сегодня
        Вчера Неделя Месяц Год Всего
    """,
    "el": """
        Αρχική Πίνακας Ρυθμίσεις Προφίλ Έργα Ομάδα Ημερολόγιο Έγγραφα Αναφορές Μηνύματα Αναζήτηση Φίλτρο
        Αποθήκευση Άκυρο Διαγραφή Επεξεργασία Προσθήκη Αντιγραφή Εκτύπωση Κοινή Μέλη Τιμολόγια Πληρωμές
        Παραγγελίες Πελάτες Λογαριασμός Κωδικός Γλώσσα Βοήθεια Κλείσιμο Άνοιγμα Επόμενο Πίσω Σήμερα Χθες
        Εβδομάδα Μήνας Έτος Σύνολο
    """,
    "zh": """
        首页 仪表盘 设置 个人资料 项目 团队 日历 文档 报告 消息 搜索 筛选 排序 保存 取消 删除 编辑 添加 复制
        粘贴 打印 预览 发布 分享 邀请 成员 账单 支付 订单 客户 产品 库存 分析 概览 动态 通知 安全 隐私 账户 密码
        语言 帮助 关闭 打开 下一步 返回 完成 今天 昨天
    """,
    "ja": """
        ホーム ダッシュボード 設定 プロフィール プロジェクト チーム カレンダー 書類 レポート メッセージ 検索
        フィルター 保存 キャンセル 削除 編集 追加 コピー 印刷 プレビュー 公開 共有 招待 メンバー 請求書 支払い
        注文 顧客 製品 通知 言語 ヘルプ 閉じる 開く 次へ 戻る 今日
    """,
    "ar": """
        الرئيسية الإعدادات الملف المشاريع الفريق التقويم المستندات التقارير الرسائل بحث تصفية حفظ إلغاء حذف
        تعديل إضافة نسخ طباعة مشاركة الأعضاء الفواتير المدفوعات الطلبات العملاء المنتجات الحساب اللغة مساعدة
        إغلاق فتح التالي رجوع اليوم أمس الأسبوع الشهر
    """,
    "he": """
        בית הגדרות פרופיל פרויקטים צוות יומן מסמכים דוחות הודעות חיפוש סינון שמירה ביטול מחיקה עריכה הוספה העתקה
        הדפסה שיתוף חברים חשבוניות תשלומים הזמנות לקוחות מוצרים חשבון שפה עזרה סגור פתח הבא חזרה היום אתמול שבוע
        חודש
    """,
    "hi": """
        होम डैशबोर्ड सेटिंग प्रोफ़ाइल परियोजना टीम कैलेंडर दस्तावेज़ रिपोर्ट संदेश खोज सहेजें रद्द हटाएं संपादित
        जोड़ें कॉपी साझा सदस्य बिल भुगतान आदेश ग्राहक उत्पाद खाता भाषा मदद बंद खोलें अगला वापस आज कल सप्ताह
        महीना
    """,
    "ko": """
        홈 대시보드 설정 프로필 프로젝트 팀 캘린더 문서 보고서 메시지 검색 필터 저장 취소 삭제 편집 추가 복사
        인쇄 공유 초대 구성원 청구서 결제 주문 고객 제품 알림 보안 계정 비밀번호 언어 도움말 닫기 열기 다음 뒤로
        완료 오늘 어제 주간 월간
    """,
    "th": """
        หน้าแรก การตั้งค่า โปรไฟล์ โครงการ ทีม ปฏิทิน เอกสาร รายงาน ข้อความ ค้นหา บันทึก ยกเลิก ลบ แก้ไข เพิ่ม
        คัดลอก พิมพ์ แชร์
    """,
}
"""By language."""

SENTENCES = """
    the of and to your in for is on that with are this you can be will from or a at by an it as have has not changes
    project every team file people when they need about work time before after more than other which into only some
    account workspace data report customer order payment settings available updated created required version release
"""
"""What English sentences of interfaces go on with."""

FIRST_NAMES = """
    Anna Ben Chloe David Elena Felix Grace Hugo Iris Jonas Kira Liam Maya Noah Olga Paul Quinn Rosa Samir Tara Umar
    Vera Wei Yara Zoe Ahmed Björn Céline Dmitri Étienne Fatima Jürgen Łukasz Mei Ngozi Priya Renée Søren
"""

LAST_NAMES = """
    Adler Brown Costa Dubois Evans Fischer Garcia Haas Ivanov Jensen Kim Lopez Müller Novak Okafor Patel Quist Rossi
    Silva Tanaka Ueda Varga Weber Xu Young Zhang O'Neil Bjørk Nguyen Schmidt
"""
